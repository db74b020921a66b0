// An error as the server said it: what is wrong, and what to do.
import { h } from "./dom.js";

const TITLES = {
  budget: "Refused by the budget", policy: "Refused by the policy", syntax: "This is not SQL that brume reads", unknown: "Unknown name",
  unsupported: "Not answered by brume", network: "No connection", token: "Signed out", busy: "The server is busy", cancelled: "Stopped",
};

// Hints name options of the command line; where the page has them.
const HERE = [
  [/--limit/, "More settings, “One person adds at most”"], [/--delta/, "More settings, “δ of this question”"],
  [/--at-least/, "“Values in a group, for means”"], [/--within/, "“Set the accuracy”"], [/--epsilon|--rho/, "“Set the price”"]];

function here(hint) {
  const found = HERE.find(([pattern]) => pattern.test(hint));
  return found ? ` (On this page: ${found[1]}.)` : "";
}

/** A box for it. `quiet`: somebody is still typing, so that it is a remark and no alarm. */
export function failure(error, { title, quiet = false } = {}) {
  if (!(error instanceof Error)) throw error;
  if (!error.code) console.error(error);
  return h("div", quiet ? { class: "note quiet" } : { class: "note bad", role: "alert" },
    h("p", {}, h("strong", {}, title || TITLES[error.code] || "That did not work")),
    h("p", {}, error.message),
    error.hint ? h("p", { class: "hint" }, "Hint: ", error.hint, here(error.hint)) : null);
}
