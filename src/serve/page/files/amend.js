// Amending a dataset: the owner's correction of what was registered. What was spent stays spent.
import { announce, clear, field, h } from "./dom.js";
import { api } from "./api.js";
import { failure } from "./failure.js";

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** What is typed, as options of 'amend'; empty fields are left as they are. */
export function changesOf(typed) {
  const changes = {};
  if (typed.epsilon) changes.budget = `epsilon=${typed.epsilon}${typed.delta ? `,delta=${typed.delta}` : ""}`;
  if (typed.cap) changes.cap = typed.cap === "none" ? "none" : `epsilon=${typed.cap}`;
  if (typed.groups) changes["max-groups"] = typed.groups;
  if (typed.rows) changes["max-rows"] = typed.rows;
  if (lines(typed.bounds).length) changes.bounds = lines(typed.bounds);
  if (lines(typed.domains).length) changes.domain = lines(typed.domains);
  if (typed.version) changes["data-version"] = typed.version;
  return changes;
}

/** A form below the policy; `changed` is called when something was amended. */
export function amendForm(name, budget, changed) {
  const typed = { epsilon: "", delta: "", cap: "", groups: "", rows: "", bounds: "", domains: "", version: "" };
  const input = (key, attributes = {}) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes, oninput: (event) => { typed[key] = event.target.value.trim(); } });
  const area = (key, placeholder) => h("textarea", { rows: 2, spellcheck: "false", placeholder, oninput: (event) => { typed[key] = event.target.value; } });
  const result = h("div", { "aria-live": "polite" });
  return h("details", { class: "amend" }, h("summary", {}, "Amend the policy"),
    h("form", { class: "lines", "aria-label": `Amend ${name}`, onsubmit: async (event) => {
      event.preventDefault();
      const changes = changesOf(typed);
      if (!Object.keys(changes).length) {
        clear(result, h("p", { class: "note" }, "Nothing was changed."));
        return;
      }
      try {
        await api.amend(name, changes);
        announce(`${name} is amended`);
        changed();
      } catch (error) {
        clear(result, failure(error, { title: "It was not amended" }));
      }
    } }, h("p", { class: "hint" }, "What is left empty stays as it is. The change is a row of the journal, for all to see; what was spent stays spent."),
    h("div", { class: "fields" },
      field("New budget ε", input("epsilon", { inputmode: "decimal", placeholder: budget ? String(budget.budget.epsilon) : "" }), "In all, with what is spent already."),
      field("New budget δ", input("delta", { inputmode: "decimal" })),
      field("Most ε for one question", input("cap"), "A number, or none."),
      field("Groups of one person", input("groups", { inputmode: "numeric" })),
      field("Rows of one person in a group", input("rows", { inputmode: "numeric" })),
      field("Data version", input("version"), "Free re-reads end when it changes.")),
    field("Bounds", area("bounds", "age=0..110"), "One column a line. Take them from what you know, not from the rows."),
    field("Domains", area("domains", "ward=surgery,medicine"), "One column a line: all its public values."),
    result, h("div", {}, h("button", { class: "main", type: "submit" }, "Amend"))));
}
