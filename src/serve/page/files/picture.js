// An answer as a picture and a table: lines where a key is a time, a table of both where there are two keys, else bars.
import { h } from "./dom.js";
import { barChart, COLOURS, commonError, groupedChart, lineChart } from "./chart.js";
import { errorText, valueText } from "./format.js";

const TIME = /^(\d{4})-(\d{2})(?:-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?)?$/;
const GROUPS = 12; // groups of bars; a table of two keys has as many columns at most

/** The bar of a cell: the noise, and what limits may have cut where that is estimated; null: none is known. */
export function errorOf(answer, row, column) {
  if (answer.rows_bar_95) return answer.rows_bar_95[row][column];
  const about = answer.columns[column];
  if (about.bar_95 !== undefined) return about.bar_95;
  const own = answer.row_error_95 ? answer.row_error_95[row][column] : about.error_95;
  if (typeof own !== "number" || about.cut_known === false) return null;
  return own + (typeof about.cut_allowance === "number" ? about.cut_allowance : 0);
}

/** The ends of a quantile's interval; null: it has none. */
function endsOf(answer, row, column) {
  return (answer.rows_interval_95 && answer.rows_interval_95[row][column]) || null;
}

/** "26 to 31": the same as a text. */
function intervalText(answer, row, column) {
  const ends = endsOf(answer, row, column);
  return ends ? `${valueText(ends[0])} to ${valueText(ends[1])}` : null;
}

function isTotal(answer, row, column) {
  return Boolean(answer.rows_total && answer.rows_total[row][column]);
}

/** Is the cell noise alone, or so small that it may be? A count keeps its number, for programs. */
function isTooFew(answer, row, column) {
  return Boolean(answer.rows_too_few && answer.rows_too_few[row][column]);
}

/** A cell without its error: a month as 2024-01, the total of a margin, a value of too few people. */
function cellText(answer, row, column) {
  const about = answer.columns[column], value = answer.rows[row][column];
  if (isTotal(answer, row, column)) return "total";
  if (isTooFew(answer, row, column)) return "too few";
  if (about.role !== "key") return valueText(value, errorOf(answer, row, column));
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || !about.period) return valueText(value);
  if (about.period === "quarter") return `${value.slice(0, 4)}-Q${Math.floor((Number(value.slice(5, 7)) + 2) / 3)}`;
  return value.slice(0, { year: 4, month: 7, week: 10, day: 10 }[about.period] || value.length);
}

/** The times of a key column: {at: of a value, in milliseconds}; null: it has none. */
function timesOf(values) {
  const found = new Map();
  for (const value of values) {
    if (value === null) continue;
    const parts = TIME.exec(value);
    if (!parts) return null;
    found.set(value, parts.slice(1).map((part, at) => (part === undefined ? [0, 1, 1, 0, 0, 0][at] : Number(part))));
  }
  if (found.size === 0) return null;
  return { at: (value) => { const [year, month, ...rest] = found.get(value); return Date.UTC(year, month - 1, ...rest); } };
}

/** What the keys of an answer are: {at, values, text (of a value), time} each. */
function keysOf(answer) {
  return answer.columns.map((column, at) => ({ column, at })).filter(({ column }) => column.role === "key").map(({ at }) => {
    const texts = new Map(answer.rows.map((row, number) => [row[at], cellText(answer, number, at)]));
    const values = [...texts.keys()];
    return { at, values, time: timesOf(values), text: (value) => texts.get(value) };
  });
}

function valuesOf(answer) {
  return answer.columns.map((column, at) => ({ column, at })).filter(({ column, at }) => column.role !== "key" &&
    answer.rows.some((row, number) => typeof row[at] === "number" || (answer.rows.length < 2 && isTooFew(answer, number, at))));
}

/** Rows of two keys as {along, across, cell(a, b): the number of a row, or undefined}; null: they are no such table. */
function crossOf(answer, keys) {
  if (keys.length !== 2) return null;
  let [along, across] = keys;
  if (across.time && !along.time) [along, across] = [across, along];
  if (!along.time && across.values.length > along.values.length) [along, across] = [across, along];
  if (across.values.length < 2 || across.values.length > GROUPS || along.values.length < 2) return null;
  const found = new Map(answer.rows.map((row, number) => [JSON.stringify([row[along.at], row[across.at]]), number]));
  if (found.size !== answer.rows.length) return null;
  return { along, across, cell: (a, b) => found.get(JSON.stringify([a, b])) };
}

/** The largest series, as many as there are colours, with a sentence where some are left out. */
function largest(series) {
  const size = (one) => Math.max(0, ...one.points.map((point) => (point ? Math.abs(point.value) || 0 : 0)));
  const kept = [...series].sort((a, b) => size(b) - size(a)).slice(0, COLOURS);
  return { series: series.filter((one) => kept.includes(one)), hint: series.length > COLOURS ? `The ${COLOURS} largest of ${series.length}; the table has all.` : "" };
}

function chartOf(answer, keys, cross, { column, at }, dim) {
  const least = column.true_if_cut === "higher" || column.clamp_low >= 0 ? 0 : undefined; // counts; of values that are not below 0
  const point = (row) => (row === undefined ? null : { value: answer.rows[row][at], error: errorOf(answer, row, at), ends: endsOf(answer, row, at), least, few: isTooFew(answer, row, at), text: cellText(answer, row, at) });
  const [key] = keys;
  const time = cross ? cross.along.time : keys.length === 1 && key.time;
  const along = cross ? cross.along : key;
  const single = (other) => other.values.filter((value) => value !== null || other.text(value) !== "total"); // a total would dwarf the rest
  const values = time ? along.values.filter((value) => value !== null).sort((a, b) => time.at(a) - time.at(b)) : along && single(along);
  const row = new Map(answer.rows.map((one, number) => [keys.length ? one[key.at] : number, number]));
  const { series, hint } = largest(cross ? single(cross.across).map((other) => ({ name: cross.across.text(other), points: values.map((value) => point(cross.cell(value, other))) }))
    : [{ name: "", points: (values || []).map((value) => point(row.get(value))) }]);
  const common = { title: column.name, dim, series, hint };
  if (time && values.length > 2) return lineChart({ ...common, times: values.map(time.at), labels: values.map(along.text) });
  if (cross && values.length <= GROUPS) return groupedChart({ ...common, labels: values.map(along.text) });
  const rows = answer.rows.map((_, number) => ({ label: keys.map((other) => cellText(answer, number, other.at)).join(", ") || "all", ...point(number) }));
  const parts = rows.filter((_, number) => !keys.some((other) => isTotal(answer, number, other.at)));
  return barChart({ title: column.name, dim, rows: parts.length ? parts : rows });
}

function barText(answer, column, at) {
  const error = answer.rows.length ? errorOf(answer, 0, at) : null;
  if (error !== null) return `± ${errorText(error)}`;
  const interval = answer.rows.length ? intervalText(answer, 0, at) : null;
  if (interval) return `95 %: ${interval}`;
  if (typeof column.rank_error_95 === "number") return `± ${errorText(column.rank_error_95)} rows in rank`;
  if (typeof column.count_error_95 === "number") return `at most ${errorText(column.count_error_95)} rows behind the true mode`;
  return column.bar_why || "";
}

/** The pictures of all value columns; of one row its numbers. */
export function charts(answer, dim) {
  const values = valuesOf(answer);
  if (answer.rows.length < 2)
    return h("div", { class: "one" }, values.map(({ column, at }) => h("div", {}, h("code", { class: "soft" }, column.name),
      h("b", {}, answer.rows.length ? cellText(answer, 0, at) : valueText(null)),
      h("span", { class: "soft number" }, barText(answer, column, at)))));
  const keys = keysOf(answer);
  const cross = crossOf(answer, keys);
  return h("div", { class: "charts" }, values.map((value) => chartOf(answer, keys, cross, value, dim)));
}

/** What stands in the cell of a value, with its error unless that is said for all. */
function inCell(answer, row, at, said = false) {
  const value = answer.rows[row][at];
  const error = errorOf(answer, row, at);
  const text = cellText(answer, row, at);
  const interval = intervalText(answer, row, at);
  if (interval) return [text, " ", h("span", { class: "pm" }, `(${interval})`)];
  if (value === null) return text;
  return [text, error === null || said ? null : [" ", h("span", { class: "pm" }, h("span", { "aria-hidden": "true" }, "±"), h("span", { class: "unseen" }, "plus or minus"), ` ${errorText(error)}`)]];
}

function scrolled(label, ...table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, table));
}

function rowsTable(answer) {
  const cell = (row, at) => {
    const value = answer.rows[row][at];
    if (answer.columns[at].role === "key") return h(at === 0 ? "th" : "td", { ...(at === 0 ? { scope: "row" } : {}), class: TIME.test(value) ? "whole-word" : "" }, cellText(answer, row, at));
    return h("td", { class: value === null || isTooFew(answer, row, at) ? "number null" : "number" }, inCell(answer, row, at));
  };
  return scrolled("Answer as a table",
    h("caption", { class: "unseen" }, "Each value with its error bar: in 95 of 100 draws the noise moves it by no more than that."),
    h("thead", {}, h("tr", {}, answer.columns.map((column) => h("th", { scope: "col", class: column.role === "key" ? "" : "number" }, column.name,
      column.role === "key" ? null : h("span", { class: "soft" }, typeof column.rank_error_95 === "number" ? " 95 %" : " ± 95 %"))))),
    h("tbody", {}, answer.rows.map((_, row) => h("tr", {}, answer.columns.map((__, at) => cell(row, at))))));
}

/** One value by two keys. An error that all cells have stands above them. */
function crossTable(answer, { along, across, cell }, { column, at }) {
  const common = commonError(answer.rows.map((row, number) => ({ value: row[at], error: errorOf(answer, number, at) })));
  return [h("h3", { class: "above" }, h("code", {}, column.name), h("span", { class: "soft" }, common === null ? (typeof column.rank_error_95 === "number" ? " 95 %" : " ± 95 %") : `, each ± ${errorText(common)} (95 %)`)), scrolled(`${column.name} by ${answer.columns[along.at].name} and ${answer.columns[across.at].name}`,
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, answer.columns[along.at].name), across.values.map((value) => h("th", { scope: "col", class: "number" }, across.text(value))))),
    h("tbody", {}, along.values.map((value) => h("tr", {}, h("th", { scope: "row", class: along.time ? "whole-word" : "" }, along.text(value)),
      across.values.map((other) => cell(value, other)).map((row) => h("td", { class: row !== undefined && (answer.rows[row][at] === null || isTooFew(answer, row, at)) ? "number null" : "number" }, row === undefined ? "–" : inCell(answer, row, at, common !== null)))))))];
}

/** The answer as a table; of two keys a table of both for every value, with all rows below. */
export function table(answer) {
  const keys = keysOf(answer);
  const cross = crossOf(answer, keys);
  if (!cross) return rowsTable(answer);
  return h("div", {}, valuesOf(answer).map((value) => crossTable(answer, cross, value)),
    h("details", { class: "names" }, h("summary", {}, "All rows"), rowsTable(answer)));
}
