// An answer: as a table with its error bars, as bars with whiskers, and as a file.
import { download, h, icon } from "./dom.js";
import { charts, errorOf, table } from "./picture.js";
import { costText, count, leftText } from "./format.js";

function remarks(answer) {
  return [...(answer.notes || []), ...(answer.warnings || [])].map((sentence) => h("p", {}, String(sentence)));
}

function quoted(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The answer as CSV: every value column has its error bar beside it, a quantile the ends of its interval. */
export function toCsv(answer) {
  const ranked = (column) => typeof column.rank_error_95 === "number";
  const head = answer.columns.flatMap((column) => [column.name, ...(column.role === "key" ? []
    : ranked(column) ? [`${column.name}_low_95`, `${column.name}_high_95`] : [`${column.name}_error_95`])]);
  const lines = answer.rows.map((row, number) => row.flatMap((value, at) => {
    const text = value === null ? "" : String(value);
    if (answer.columns[at].role === "key") return [text];
    if (ranked(answer.columns[at])) {
      const ends = answer.rows_interval_95 && answer.rows_interval_95[number][at];
      return [text, ...(ends ? ends.map(String) : ["", ""])];
    }
    const error = errorOf(answer, number, at);
    return [text, error === null ? "" : String(error)];
  }));
  return [head, ...lines].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function downloads(answer) {
  return [
    h("button", { class: "slight", type: "button", onclick: () => download("answer.csv", "text/csv", toCsv(answer)) }, icon("download"), "CSV"),
    h("button", { class: "slight", type: "button", onclick: () => download("answer.json", "application/json", JSON.stringify(answer, null, 2)) }, icon("download"), "JSON")];
}

function priceChips(answer, madeUp) {
  if (madeUp) return [h("span", { class: "chip free" }, "made-up data, free")];
  if (answer.post_processed && answer.cost && !answer.cost.epsilon && !answer.cost.rho) return [h("span", { class: "chip free" }, "from recorded answers, free")];
  if (answer.cached) return [h("span", { class: "chip free" }, "read again, free")];
  if (!answer.cost || (!answer.cost.epsilon && !answer.cost.rho)) return [h("span", { class: "chip free" }, "public tables, free")];
  return [h("span", { class: "chip cost" }, `cost ${costText(answer.cost)}`)];
}

/** The names by which SQL reads recorded answers. */
function names(charges, further) {
  return charges.map((charge) => `answer_${charge}`).map((name) => (further
    ? h("button", { class: "slight", type: "button", title: "SQL of this name is free", onclick: () => further(name) }, h("code", {}, name), "ask further, free")
    : h("code", {}, name)));
}

/** A card with the answer. `madeUp`: it is of a dummy run; `sql`: what was asked, which is not what the editor has later; `again` asks anew, for a price;
 * `charges` have paid for it, and `further(name)` goes on with the table that the recorded answer is. */
export function answerCard(answer, { madeUp = false, title = "Answer", sql = "", again = null, charges = [], further = null } = {}) {
  const left = answer.remaining && !madeUp ? h("span", { class: "soft small" }, `left: ${typeof answer.remaining.rho === "number" ? `ρ ${leftText(answer.remaining.rho)}` : `ε ${leftText(answer.remaining.epsilon)}`}`,
    answer.remaining.delta ? `, δ ${leftText(answer.remaining.delta)}` : "") : null;
  const notes = remarks(answer);
  if (sql) notes.unshift(h("p", { class: "sql" }, sql.replace(/\s+/g, " ")));
  const heading = h("h2", { tabindex: "-1" }, madeUp ? "Rehearsal on made-up data" : title);
  const card = h("section", { class: `card answer${madeUp ? " made-up" : ""}`, "aria-label": madeUp ? "Rehearsal" : "Answer" },
    h("div", { class: "bar" }, heading, names(charges, further), priceChips(answer, madeUp), left, h("div", { class: "end" },
      again && answer.cached && !madeUp ? h("button", { class: "slight spends", type: "button", onclick: again }, `Ask again, spends ${costText(answer.cost)}`) : null, downloads(answer))),
    madeUp ? h("p", { class: "note" }, "These rows were made from the policy alone: the shape of the answer is right, the numbers mean nothing.") : null,
    charts(answer, madeUp), table(answer), notes.length ? h("div", { class: "foot" }, notes) : null);
  return { card, heading, text: `${madeUp ? "Rehearsal" : "Answer"}: ${count(answer.rows.length, "row")}, ${madeUp || answer.cached ? "free" : `cost ${costText(answer.cost)}`}` };
}
