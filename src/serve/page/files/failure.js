// An error as the server said it: what is wrong, and what to do.
import { h } from "./dom.js";

const TITLES = {
  budget: "Refused by the budget", policy: "Refused by the policy", syntax: "This is not SQL that brume reads", unknown: "Unknown name",
  unsupported: "Not answered by brume", network: "No connection", token: "Signed out", busy: "The server is busy",
};

/** `spends`: whether a price may be concerned, so that it says whether anything was spent. */
export function failure(error, { title } = {}) {
  if (!(error instanceof Error)) throw error;
  if (!error.code) console.error(error);
  return h("div", { class: "note bad", role: "alert" },
    h("p", {}, h("strong", {}, title || TITLES[error.code] || "That did not work")),
    h("p", {}, error.message),
    error.hint ? h("p", { class: "hint" }, "Hint: ", error.hint) : null);
}
