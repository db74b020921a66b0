// Registering a dataset: a form that writes the policy file, shown before it is sent.
import { announce, clear, field, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { failure } from "./failure.js";
import { missing, policyText } from "./policy.js";

const newTable = (name = "") => ({ name, source: "", table: "", whose: "unit", unit: "", link: "", columns: "", bounds: [], domains: [], identifier: "" });

class RegisterView {
  constructor(main, state) {
    this.state = state;
    this.form = { name: "", epsilon: "", delta: "", rule: "", adjacency: "", cap: "", groups: "", rows: "", limits: "", timeout: "", version: "", tables: [newTable()] };
    this.byHand = null;
    this.tables = h("div", { class: "lines" });
    this.preview = h("div");
    this.wanted = h("div");
    this.result = h("div");
    this.send = h("button", { class: "main send", type: "button", onclick: () => this.register() }, "Register");
    this.hand = h("button", { class: "slight", type: "button", "aria-pressed": "false", onclick: () => this.switchHand() }, icon("edit"), "Edit by hand");
    clear(main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("p", {}, h("a", { href: "#/datasets" }, "Datasets"), " /"), h("h1", {}, "Register a dataset"),
        h("p", {}, "You decide what is protected and how much may ever be learnt. All of it is public, and nothing is found out from rows."))),
      h("div", { class: "policy" }, this.formCard(),
        h("section", { class: "card yaml", "aria-label": "Policy file" }, h("div", { class: "bar" }, h("h2", {}, "Policy file"), h("div", { class: "end" }, this.hand)),
          this.preview, h("div", { class: "inside" }, this.wanted, this.send, h("p", { class: "hint" }, "Registering costs nothing; the same source has one budget, for ever."), this.result)))));
    this.drawTables();
    this.draw();
  }

  input(object, key, attributes = {}) {
    return h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes, value: object[key], oninput: (event) => { object[key] = event.target.value.trim(); this.draw(); } });
  }

  choice(object, key, options, after) {
    const box = select(options, object[key], () => { object[key] = box.value; if (after) after(); this.draw(); });
    return box;
  }

  formCard() {
    const form = this.form;
    const name = this.input(form, "name", { placeholder: "visits" });
    name.addEventListener("input", () => {
      if (form.tables.length === 1 && !this.namedTable) { form.tables[0].name = form.name; this.drawTables(); }
    });
    return h("section", { class: "card", "aria-label": "Form" }, h("div", { class: "inside" },
      h("fieldset", { class: "lines" }, h("legend", {}, "Dataset"), h("div", { class: "fields" },
        field("Name", name, "As queries will call it."),
        field("Budget ε", this.input(form, "epsilon", { inputmode: "decimal", placeholder: "3" }), "In all, for everybody, for ever. 1 or less where it is sensitive, a few where it is mildly so; above 10 it is no promise by itself."),
        field("Budget δ", this.input(form, "delta", { inputmode: "decimal", placeholder: "1e-7" }), "Well below one over the number of people; empty: none, and private groups stay hidden."))),
      h("div", { class: "lines" }, h("h2", {}, "Tables"), this.tables,
        h("div", {}, h("button", { class: "slight", type: "button", onclick: () => { this.namedTable = true; form.tables.push(newTable()); this.drawTables(); this.draw(); } }, icon("plus"), "Add a table"))),
      h("details", {}, h("summary", {}, "Rules and ceilings"), h("div", { class: "fields" },
        field("Rule", this.choice(form, "rule", [["", "by the budget"], ["pure", "pure"], ["approximate", "approximate"], ["concentrated", "concentrated"]]), "How charges add up."),
        field("Neighbours", this.choice(form, "adjacency", [["", "add or remove a person"], ["replace", "replace a person's data"]])),
        field("Most ε for one question", this.input(form, "cap", { inputmode: "decimal" })),
        field("Groups of one person", this.input(form, "groups", { inputmode: "numeric" }), "A ceiling; none unless said."),
        field("Rows of one person in a group", this.input(form, "rows", { inputmode: "numeric" })),
        field("Limits", this.choice(form, "limits", [["", "chosen privately by each query"], ["fixed", "the ceilings"]])),
        field("Longest query, seconds", this.input(form, "timeout", { inputmode: "numeric" })),
        field("Data version", this.input(form, "version"), "Your public label: free re-reads end when it changes.")))));
  }

  lineOf(list, at, inputs, word) {
    return h("div", { class: "set with-button" }, h("div", { class: "fields" }, inputs),
      h("button", { class: "slight plain", type: "button", "aria-label": `Remove ${word} ${at + 1}`, onclick: () => { list.splice(at, 1); this.drawTables(); this.draw(); } }, icon("remove")));
  }

  addButton(text, list, made) {
    return h("div", {}, h("button", { class: "slight", type: "button", onclick: () => { list.push(made); this.drawTables(); this.draw(); } }, icon("plus"), text));
  }

  tablePart(table, number) {
    const several = this.form.tables.length > 1;
    const whose = this.choice(table, "whose", [["unit", "a column says whose a row is"], ["row", "every row is one person"], ["link", "by a link to another table"], ["public", "public: needs no protection"]], () => this.drawTables());
    const name = this.input(table, "name", { placeholder: "visits" });
    name.addEventListener("input", () => { this.namedTable = true; });
    return h("fieldset", { class: "part" }, h("legend", { class: "unseen" }, `Table ${number + 1}`),
      several ? h("div", { class: "part-head" }, h("h3", {}, `Table ${number + 1}`), h("button", { class: "slight plain danger", type: "button", onclick: () => { this.form.tables.splice(number, 1); this.drawTables(); this.draw(); } }, icon("remove"), "Remove")) : null,
      h("div", { class: "fields" }, field("Table", name),
        field("Source", this.input(table, "source", { placeholder: "/data/visits.parquet" }), "A .csv, .parquet or .json path or glob on the server, or postgresql://…"),
        /^postgres/.test(table.source) ? field("Table of PostgreSQL", this.input(table, "table", { placeholder: "public.visits" })) : null,
        field("Whose are its rows?", whose),
        table.whose === "unit" ? field("Column of the person", this.input(table, "unit", { placeholder: "patient" })) : null,
        table.whose === "link" ? field("Link", this.input(table, "link", { placeholder: "visit = visits.visit" }), "column = table.column") : null),
      field("Types of columns", this.input(table, "columns", { placeholder: "patient integer, ward text, day date" }), "CSV and JSON only; text unless said. Parquet and PostgreSQL have their own."),
      h("div", { class: "lines" }, h("h3", {}, "Bounds"), h("p", { class: "hint" }, "Sums and means need them; values outside are clamped. Take them from what you know, not from the rows."),
        table.bounds.map((one, at) => this.lineOf(table.bounds, at, [field("Column", this.input(one, "column")), field("From", this.input(one, "low", { inputmode: "decimal" })), field("To", this.input(one, "high", { inputmode: "decimal" }))], "bounds")),
        this.addButton("Add bounds", table.bounds, { column: "", low: "", high: "" })),
      h("div", { class: "lines" }, h("h3", {}, "Domains"), h("p", { class: "hint" }, "Columns whose values are public: groups of them cost nothing to find."),
        table.domains.map((one, at) => this.lineOf(table.domains, at, [field("Column", this.input(one, "column")), field("Values, with commas", this.input(one, "values", { placeholder: "surgery, medicine" }))], "domain")),
        this.addButton("Add a domain", table.domains, { column: "", values: "" })),
      field("Identifiers", this.input(table, "identifier", { placeholder: "phone" }), "Columns that hardly two people share: grouping by them is refused for free."));
  }

  drawTables() {
    clear(this.tables, this.form.tables.map((table, number) => this.tablePart(table, number)));
  }

  text() { return this.byHand ?? policyText(this.form); }

  switchHand() {
    this.byHand = this.byHand === null ? policyText(this.form) : null;
    this.hand.setAttribute("aria-pressed", this.byHand === null ? "false" : "true");
    this.draw();
  }

  draw() {
    if (this.byHand !== null) {
      if (!this.preview.querySelector("textarea"))
        clear(this.preview, h("textarea", { "aria-label": "Policy file", spellcheck: "false", value: this.byHand, oninput: (event) => { this.byHand = event.target.value; } }));
    } else {
      const lines = policyText(this.form).trimEnd().split("\n");
      clear(this.preview, h("pre", { tabindex: "0", role: "region", "aria-label": "Policy file as YAML" }, lines.map((line) => {
        const parts = /^(\s*[^:]+:)(.*)$/.exec(line);
        return parts ? [h("span", { class: "keyword" }, parts[1]), parts[2], "\n"] : [line, "\n"];
      })));
    }
    const list = this.byHand !== null ? (this.form.name ? [] : ["a name for the dataset"]) : missing(this.form);
    clear(this.wanted, list.length ? h("div", { class: "note" }, h("p", {}, h("strong", {}, "Still missing: ")), h("ul", {}, list.map((text) => h("li", {}, `– ${text}`)))) : null);
    this.send.disabled = list.length > 0;
  }

  async register() {
    this.send.disabled = true;
    try {
      await api.register(this.form.name, this.text());
      await this.state.loadPolicies(true);
      announce(`${this.form.name} is registered`);
      location.hash = `#/datasets/${encodeURIComponent(this.form.name)}`;
    } catch (error) {
      clear(this.result, failure(error, { title: "It was not registered" }));
      this.send.disabled = false;
    }
  }
}

export async function registerView(main, state) {
  new RegisterView(main, state);
}
