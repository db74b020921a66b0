// An answer: as a table with its error bars, as bars with whiskers, and as a file.
import { download, h, icon } from "./dom.js";
import { barChart } from "./chart.js";
import { costText, count, errorText, leftText, valueText } from "./format.js";

/** The bar of a cell: the noise, and what limits may have cut where that is estimated; null: none is known. */
function errorOf(answer, row, column) {
  if (answer.rows_bar_95) return answer.rows_bar_95[row][column];
  const about = answer.columns[column];
  if (about.bar_95 !== undefined) return about.bar_95;
  const own = answer.row_error_95 ? answer.row_error_95[row][column] : about.error_95;
  if (typeof own !== "number" || about.cut_known === false) return null;
  return own + (typeof about.cut_allowance === "number" ? about.cut_allowance : 0);
}

/** "26 to 31": the interval of a quantile; null: it has none. */
function intervalOf(answer, row, column) {
  const ends = answer.rows_interval_95 && answer.rows_interval_95[row][column];
  return ends ? `${valueText(ends[0])} to ${valueText(ends[1])}` : null;
}

/** A cell without its error: a month as 2024-01, the total of a margin, a value of too few people. */
function cellText(answer, row, column) {
  const about = answer.columns[column], value = answer.rows[row][column];
  if (answer.rows_total && answer.rows_total[row][column]) return "total";
  if (answer.rows_too_few && answer.rows_too_few[row][column]) return "too few";
  if (about.role !== "key") return valueText(value, errorOf(answer, row, column));
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || !about.period) return valueText(value);
  if (about.period === "quarter") return `${value.slice(0, 4)}-Q${Math.floor((Number(value.slice(5, 7)) + 2) / 3)}`;
  return value.slice(0, { year: 4, month: 7, week: 10, day: 10 }[about.period] || value.length);
}

function cell(answer, row, column) {
  const value = answer.rows[row][column];
  if (answer.columns[column].role === "key") return h(column === 0 ? "th" : "td", column === 0 ? { scope: "row" } : {}, cellText(answer, row, column));
  const error = errorOf(answer, row, column);
  if (value === null) return h("td", { class: "number null" }, cellText(answer, row, column));
  const interval = intervalOf(answer, row, column);
  if (interval) return h("td", { class: "number" }, valueText(value), " ", h("span", { class: "pm" }, `(${interval})`));
  return h("td", { class: "number" }, valueText(value, error),
    error === null ? null : [" ", h("span", { class: "pm" }, h("span", { "aria-hidden": "true" }, "±"), h("span", { class: "unseen" }, "plus or minus"), ` ${errorText(error)}`)]);
}

function table(answer) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answer as a table" },
    h("table", {},
      h("caption", { class: "unseen" }, "Each value with its error bar: in 95 of 100 draws the noise moves it by no more than that."),
      h("thead", {}, h("tr", {}, answer.columns.map((column) => h("th", { scope: "col", class: column.role === "key" ? "" : "number" }, column.name,
        column.role === "key" ? null : h("span", { class: "soft" }, typeof column.rank_error_95 === "number" ? " 95 %" : " ± 95 %"))))),
      h("tbody", {}, answer.rows.map((_, row) => h("tr", {}, answer.columns.map((__, column) => cell(answer, row, column)))))));
}

function labelOf(answer, row) {
  return answer.columns.map((column, at) => (column.role === "key" ? cellText(answer, row, at) : null)).filter((text) => text !== null).join(", ") || "all";
}

function charts(answer, dim) {
  const values = answer.columns.map((column, at) => ({ column, at })).filter(({ column, at }) => column.role !== "key" &&
    answer.rows.some((row) => typeof row[at] === "number"));
  if (answer.rows.length < 2) {
    return h("div", { class: "one" }, values.map(({ column, at }) => h("div", {}, h("code", { class: "soft" }, column.name),
      h("b", {}, valueText(answer.rows[0] && answer.rows[0][at], answer.rows[0] && errorOf(answer, 0, at))),
      h("span", { class: "soft number" }, barText(answer, column, at)))));
  }
  return h("div", { class: "charts" }, values.map(({ column, at }) => barChart({
    title: column.name, dim, rows: answer.rows.map((row, number) => ({ label: labelOf(answer, number), value: row[at], error: errorOf(answer, number, at) })) })));
}

function barText(answer, column, at) {
  const error = answer.rows.length ? errorOf(answer, 0, at) : null;
  if (error !== null) return `± ${errorText(error)}`;
  const interval = answer.rows.length ? intervalOf(answer, 0, at) : null;
  if (interval) return `95 %: ${interval}`;
  if (typeof column.rank_error_95 === "number") return `± ${errorText(column.rank_error_95)} rows in rank`;
  if (typeof column.count_error_95 === "number") return `at most ${errorText(column.count_error_95)} rows behind the true mode`;
  return "";
}

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
  if (answer.cached) return [h("span", { class: "chip free" }, "read again, free")];
  if (!answer.cost || (!answer.cost.epsilon && !answer.cost.rho)) return [h("span", { class: "chip free" }, "public tables, free")];
  return [h("span", { class: "chip cost" }, `cost ${costText(answer.cost)}`)];
}

/** A card with the answer. `madeUp`: it is of a dummy run; `sql`: what was asked, which is not what the editor has later. */
export function answerCard(answer, { madeUp = false, title = "Answer", sql = "" } = {}) {
  const left = answer.remaining && !madeUp ? h("span", { class: "soft small" }, `left: ${typeof answer.remaining.rho === "number" ? `ρ ${leftText(answer.remaining.rho)}` : `ε ${leftText(answer.remaining.epsilon)}`}`,
    answer.remaining.delta ? `, δ ${leftText(answer.remaining.delta)}` : "") : null;
  const notes = remarks(answer);
  if (sql) notes.unshift(h("p", { class: "sql" }, sql.replace(/\s+/g, " ")));
  const heading = h("h2", { tabindex: "-1" }, madeUp ? "Rehearsal on made-up data" : title);
  const card = h("section", { class: `card answer${madeUp ? " made-up" : ""}`, "aria-label": madeUp ? "Rehearsal" : "Answer" },
    h("div", { class: "bar" }, heading, priceChips(answer, madeUp), left, h("div", { class: "end" }, downloads(answer))),
    madeUp ? h("p", { class: "note" }, "These rows were made from the policy alone: the shape of the answer is right, the numbers mean nothing.") : null,
    charts(answer, madeUp), table(answer), notes.length ? h("div", { class: "foot" }, notes) : null);
  return { card, heading, text: `${madeUp ? "Rehearsal" : "Answer"}: ${count(answer.rows.length, "row")}, ${madeUp || answer.cached ? "free" : `cost ${costText(answer.cost)}`}` };
}
