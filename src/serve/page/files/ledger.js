// The ledger itself, for owners and auditors: is it whole, and a record of it for third parties.
import { announce, clear, download, h, icon } from "./dom.js";
import { api } from "./api.js";
import { count } from "./format.js";
import { failure } from "./failure.js";

function facts(found) {
  return h("div", { class: "note free" }, h("p", {}, h("strong", {}, "The ledger holds")),
    h("p", {}, `${count(found.rows, "row")} of the journal were read again: ${count(found.datasets, "dataset")}, ${count(found.reservations, "charge")}, ${count(found.answers, "answer")}. Every hash and every sum is what it should be.`));
}

/** A card with one button; what `act` gives is shown below it. */
function work(title, text, label, mark, act) {
  const result = h("div", { "aria-live": "polite" });
  const button = h("button", { type: "button", onclick: async () => {
    button.disabled = true;
    clear(result, h("span", { class: "working", "aria-hidden": "true" }), "Working…");
    try {
      clear(result, await act());
    } catch (error) {
      clear(result, failure(error));
    }
    button.disabled = false;
  } }, icon(mark), label);
  return h("section", { class: "card", "aria-label": title }, h("div", { class: "bar" }, h("h2", {}, title)),
    h("div", { class: "inside" }, h("p", { class: "soft" }, text), h("div", {}, button), result));
}

export async function ledgerView(main) {
  clear(main, h("div", { class: "view" },
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Ledger"), h("p", {}, "Every charge is a row of a journal in which each row has the hash of the one before. Both of these are free, and show no answer."))),
    work("Verify", "The whole journal is read again and compared with the budgets. It takes longer, the longer the journal is.", "Verify the ledger", "again", async () => {
      const found = await api.verify();
      announce("The ledger holds");
      return facts(found);
    }),
    work("Export", "A record for third parties: who keeps it can later see whether a row was changed or is missing (brume ledger verify --against).", "Download the record", "download", async () => {
      const record = await api.exported();
      download("ledger.json", "application/json", JSON.stringify(record, null, 2));
      announce("The record is downloaded");
      return h("p", { class: "soft" }, "ledger.json is downloaded.");
    })));
}
