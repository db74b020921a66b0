// Datasets and their policies: everything here was declared by the owner, nothing was found out from rows.
import { announce, clear, h, icon } from "./dom.js";
import { api } from "./api.js";
import { count, numberText, priceText } from "./format.js";
import { failure } from "./failure.js";
import { meters } from "./budget.js";
import { amendForm } from "./amend.js";
import { isBounded } from "./sql.js";

function constraint(column) {
  if (column.domain) return [h("span", { class: "chip key" }, count(column.domain.length, "value")), " ", column.domain.slice(0, 12).join(", "), column.domain.length > 12 ? ", …" : ""];
  if (column.low !== null && column.low !== undefined) return `${numberText(column.low)} to ${numberText(column.high)}`;
  if (column.identifier) return h("span", { class: "chip" }, "identifier");
  return h("span", { class: "soft" }, "–");
}

function useOf(column, unit, open) {
  if (open) return "join, filter, group by it: all values are public";
  if (column.name === unit) return "whose row it is; COUNT(DISTINCT …)";
  if (column.domain) return "group by it: all values are public";
  if (isBounded(column)) return "SUM, AVG, MEDIAN, …";
  if (/^(date|timestamp)/.test(column.type)) return "filter; DATE_TRUNC('month', …) to group by";
  if (column.identifier) return "not to group by";
  if (column.type === "text" || column.type === "boolean") return "group by it: values stay private";
  return "filter; CLAMP for sums";
}

function tableCard(table, dataset) {
  const whose = table.public ? h("span", { class: "chip free" }, "public")
    : h("span", { class: "chip" }, table.link ? `by ${table.link.column} = ${table.link.table}.${table.link.parent_column}` : table.unit === "row" || !table.unit ? "a row is a person" : `unit ${table.unit}`);
  return h("section", { class: "card", "aria-label": `Table ${table.name || dataset}` },
    h("div", { class: "bar" }, h("h2", {}, h("code", {}, table.name || dataset)), whose),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Columns of ${table.name || dataset}` }, h("table", { class: "stack" }, h("thead", {}, h("tr", {}, ["Column", "Type", "Declared", "Good for"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, table.columns.map((column) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, column.name), column.name === table.unit ? [" ", h("span", { class: "chip key" }, "unit")] : null),
        h("td", { "data-label": "Type" }, column.type), h("td", { "data-label": "Declared" }, constraint(column)), h("td", { "data-label": "Good for", class: "soft" }, useOf(column, table.unit, table.public))))))));
}

export async function datasetsView(main, state) {
  const list = h("div", { class: "grid", "aria-busy": "true" });
  clear(main, h("div", { class: "view" },
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Datasets"), h("p", {}, "What can be asked, and what its owner has declared about it. Looking costs nothing, and none of it depends on a row.")),
      state.me.role === "owner" ? h("a", { class: "button", href: "#/register" }, icon("plus"), "Register a dataset") : null), list));
  try {
    await state.loadPolicies(true);
    const budgets = await api.budgets();
    const cards = state.shown.map((one) => {
      const budget = budgets.find((other) => other.dataset === one.dataset);
      const tables = one.tables || [one];
      return h("article", { class: "card" },
        h("div", { class: "bar" }, h("h2", {}, h("a", { href: `#/datasets/${encodeURIComponent(one.dataset)}` }, one.dataset)), one.public ? h("span", { class: "chip free end" }, "public, free") : null),
        h("div", { class: "inside" },
          h("p", { class: "soft small" }, one.tables ? `${count(tables.length, "table")}: ${tables.map((table) => table.name).join(", ")}` : count(one.columns.length, "column"),
            one.public ? "" : `; protects each ${one.unit || (tables.find((table) => table.unit) || {}).unit || "row"}`),
          budget ? meters(budget) : null));
    });
    clear(list, cards.length ? cards : h("p", { class: "empty" }, state.me.role === "owner" ? "Nothing is registered yet: begin with a dataset." : "Nothing is registered yet, or nothing is yours to ask."));
    list.removeAttribute("aria-busy");
    announce(count(cards.length, "dataset"));
  } catch (error) {
    clear(list, failure(error));
  }
}

export async function datasetView(main, state, name) {
  const body = h("div", { class: "view", "aria-busy": "true" });
  clear(main, h("div", { class: "view" }, h("div", { class: "head" }, h("div", {}, h("p", {}, h("a", { href: "#/datasets" }, "Datasets"), " /"), h("h1", {}, name))), body));
  try {
    const [one, budgets] = await Promise.all([api.show(name), api.budgets()]);
    const budget = budgets.find((other) => other.dataset === name);
    const tables = one.tables || [one];
    const unit = one.unit || (tables.find((table) => table.unit) || {}).unit;
    clear(body,
      h("section", { class: "card", "aria-label": "Policy" }, h("div", { class: "bar" }, h("h2", {}, "Policy"), h("div", { class: "end" },
        h("button", { class: "slight", type: "button", onclick: () => { state.asked.sql = ""; state.asked.shown = null; state.asked.about = name; location.hash = "#/ask"; } }, "Ask about it"))),
      h("div", { class: "inside" }, budget ? meters(budget) : null, h("dl", { class: "facts" },
        one.public ? [h("dt", {}, "protection"), h("dd", {}, "none: it is public, and answered exactly for nothing")] : [
          h("dt", {}, "protects"), h("dd", {}, unit === "row" || !unit ? "each row" : ["each ", h("code", {}, unit), ", with all its rows"]),
          h("dt", {}, "neighbours"), h("dd", {}, one.adjacency === "replace" ? "replace one person's data" : "add or remove one person"),
          h("dt", {}, "rule"), h("dd", {}, one.rule)],
        one.cap ? [h("dt", {}, "most for one question"), h("dd", {}, `ε ${priceText(one.cap.epsilon ?? one.cap)}`)] : null,
        tables[0].max_groups ? [h("dt", {}, "ceilings"), h("dd", {}, `one person: ${count(tables[0].max_groups, "group")}${tables[0].max_rows ? `, ${count(tables[0].max_rows, "row")} in each` : ""}`)] : null,
        one.data_version ? [h("dt", {}, "data version"), h("dd", {}, one.data_version)] : null),
      state.me.role === "owner" ? amendForm(name, budget, () => { state.shown = []; datasetView(main, state, name); }) : null)),
      tables.map((table) => tableCard(table, one.dataset)));
    body.removeAttribute("aria-busy");
  } catch (error) {
    clear(body, failure(error));
  }
}
