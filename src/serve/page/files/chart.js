// Bars with whiskers, and lines over time, in SVG. Lengths are linear, the axis begins at zero or shows it.
import { clear, h, s } from "./dom.js";
import { errorText, niceAbove, valueText } from "./format.js";

const MOST = 40; // bars
const STRIDES = [1, 2, 3, 4, 6, 12, 24, 48, 120, 240, 480]; // every how many times has its label
export const COLOURS = 8; // series: .tone-0 to .tone-7

function ticks(low, high) {
  const step = roundAbove((high - low) / 5);
  const list = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) list.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return list;
}

/** The least of 1, 2, 5, 10, ... times a power of ten that is not below. */
function roundAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((step) => value <= step * power * (1 + 1e-9)) * power;
}

function short(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A mark of an axis whose largest is `most`: all its marks are in one unit. */
function shortNumber(value, most) {
  const [unit, letter] = [[1e9, "G"], [1e6, "M"], [1e4, "k"]].find(([one]) => most >= one) || [1, ""];
  const text = String(Number((value / Math.min(unit, letter === "k" ? 1e3 : unit)).toPrecision(4))).replace("-", "\u2212");
  return letter && value !== 0 ? `${text} ${letter}` : text.replace(/^(\u2212?\d)(\d{3})$/, "$1,$2");
}

function frame(drawn, wide) {
  const left = Math.min(150, 24 + 7.2 * Math.max(...drawn.map((row) => Math.min(18, row.label.length)), 3));
  const right = wide - 24 - 7.4 * Math.max(...drawn.map((row) => valueText(row.value, row.error).length), 3);
  const { low, high } = reachOf(drawn);
  const marks = ticks(low, high);
  const first = Math.min(low, marks[0]);
  const last = Math.max(high, marks[marks.length - 1]);
  return { left, marks, x: (value) => left + ((value - first) / (last - first || 1)) * (right - left) };
}

/** From where to where the error of a point goes, never below `least`, which a count has; null: nobody knows. */
function endsOf({ value, error, ends, least = -Infinity }) {
  if (ends) return ends;
  return typeof error === "number" ? [Math.max(Math.min(least, value), value - error), value + error] : null;
}

/** A point and its error in words. */
function said(point) {
  if (point.few) return point.error === null ? point.text : `${point.text}, at most ${errorText(point.error)} off`;
  if (point.ends) return `${valueText(point.value)}, from ${valueText(point.ends[0])} to ${valueText(point.ends[1])}`;
  return `${valueText(point.value, point.error)}${point.error === null ? "" : ` plus or minus ${errorText(point.error)}`}`;
}

function largestOf(marks) {
  return Math.max(...marks.map(Math.abs));
}

function axis({ marks, x }, bottom) {
  const parts = [];
  let free = -Infinity;
  for (const mark of marks) {
    parts.push(s("line", { class: mark === 0 ? "base" : "axis", x1: x(mark), x2: x(mark), y1: 2, y2: bottom }));
    const text = shortNumber(mark, largestOf(marks));
    if (x(mark) - text.length * 3.6 > free) {
      parts.push(s("text", { class: "soft", x: x(mark), y: bottom + 17, "text-anchor": "middle" }, text));
      free = x(mark) + text.length * 3.6 + 6;
    }
  }
  return parts;
}

function rowParts(row, middle, { left, x }, dim) {
  const label = s("text", { x: left - 10, y: middle + 4.5, "text-anchor": "end" }, short(row.label, 18));
  if (typeof row.value !== "number") return [label, s("text", { class: "soft", x: x(0) + 8, y: middle + 4.5 }, row.text)];
  const parts = [label, s("rect", { class: `bar-of${dim ? " dim" : ""}`, x: Math.min(x(0), x(row.value)), y: middle - 10,
    width: Math.max(1, Math.abs(x(row.value) - x(0))), height: 20, rx: 3 })];
  const ends = endsOf(row);
  if (ends) {
    const [a, b] = ends.map(x);
    for (const style of ["halo", "error"])
      parts.push(s("path", { class: style, fill: "none", d: `M${a} ${middle}H${b}M${a} ${middle - 5}v10M${b} ${middle - 5}v10` }));
  }
  const end = Math.max(x(ends ? ends[1] : row.value), x(0));
  return [...parts, s("text", { x: end + 8, y: middle + 4.5, class: row.few ? "soft" : null }, row.few ? row.text : valueText(row.value, row.error))];
}

/** A figure of one value column: rows are {label, value, error (null: none), text}, where `text` stands for a value that is
 * no number; `dim`: made-up data. */
export function barChart({ title, rows, dim }) {
  const drawn = rows.slice(0, MOST);
  const pitch = 32;
  const bottom = drawn.length * pitch + 6;
  const told = drawn.map((row) => `${row.label} ${said(row)}`);
  return figureOf(title, `Bars of ${title}: ${told.join("; ")}`, (wide) => {
    const made = frame(drawn, wide);
    return { tall: bottom + 24, parts: [axis(made, bottom), drawn.map((row, number) => rowParts(row, number * pitch + 20, made, dim))] };
  }, [], rows.length > drawn.length ? `The first ${drawn.length} of ${rows.length} rows; the table has all.` : "");
}

/** Which colour is which series. */
function legend(series) {
  return series.length < 2 ? null : h("ul", { class: "tones" }, series.map((one, at) => h("li", {}, s("svg", { class: `tone-${at}`, viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
    s("rect", { width: 12, height: 12, rx: 3 })), one.name)));
}

/** A figure that is drawn anew when the room it has changes: `draw(wide)` gives {tall, parts}. */
function figureOf(title, told, draw, series, hint) {
  const picture = s("svg", { role: "img", "aria-label": told });
  const paint = (room) => {
    const wide = Math.max(240, Math.min(room, 760));
    const { tall, parts } = draw(wide);
    picture.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    picture.style.maxWidth = `${wide}px`;
    clear(picture, parts);
  };
  paint(560);
  const figure = h("figure", { class: "chart" }, h("figcaption", {}, h("code", {}, title)), picture, legend(series), hint ? h("p", { class: "hint" }, hint) : null);
  new ResizeObserver(([entry]) => paint(entry.contentRect.width)).observe(figure);
  return figure;
}

/** The lowest and the highest end of these values with their errors, zero between them. */
function reachOf(points) {
  const ends = points.filter((one) => typeof one.value === "number").flatMap((one) => endsOf(one) || [one.value]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  return { low, high: high === low ? low + 1 : high };
}

function tell(title, series, labels) {
  return `${title}: ${series.map((one) => `${one.name ? `${one.name}: ` : ""}${one.points.map((point, at) => (point
    ? `${labels[at]} ${said(point)}` : null)).filter(Boolean).join("; ")}`).join(". ")}`;
}

/** The error that all of these have in common; null: they have none. */
export function commonError(points) {
  const shown = points.filter((point) => point && typeof point.value === "number");
  const [first] = shown;
  return first && typeof first.error === "number" && shown.every((point) => point.error !== null && errorText(point.error) === errorText(first.error)) ? first.error : null;
}

/** One line with its errors: whiskers, unless one stands for all, and a band where there are few lines. */
function lineParts(points, tone, { band, whiskers }, x, y) {
  const shown = points.map((point, at) => (point && typeof point.value === "number" ? { ...point, at: x(at) } : null));
  const parts = [];
  let run = [];
  const close = () => {
    if (run.length) {
      const edge = (side) => run.map((one) => `${one.at} ${y((endsOf(one) || [one.value, one.value])[side])}`);
      if (band) parts.push(s("path", { class: "band", d: `M${edge(1).join("L")}L${edge(0).reverse().join("L")}Z` }));
      parts.push(s("path", { class: "line-of", fill: "none", d: `M${run.map((one) => `${one.at} ${y(one.value)}`).join("L")}` }));
    }
    run = [];
  };
  for (const one of [...shown, null]) one ? run.push(one) : close();
  for (const one of shown.filter(Boolean)) {
    const ends = whiskers ? endsOf(one) : null;
    if (ends) parts.push(s("path", { class: "error", fill: "none", d: `M${one.at} ${y(ends[0])}V${y(ends[1])}` }));
    parts.push(s("circle", { class: "spot", cx: one.at, cy: y(one.value), r: 2.6 }));
  }
  return s("g", { class: `tone-${tone}` }, parts);
}

/** Lines over time: `times` are numbers with their `labels`; each of `series` is {name, points}, a point for every time:
 * {value, error (null: none)}, or null. */
export function lineChart({ title, times, labels, series, dim, hint }) {
  const few = series.length < 4;
  const common = few ? null : commonError(series.flatMap((one) => one.points));
  const drawn = { band: few, whiskers: common === null };
  const { low, high } = reachOf(series.flatMap((one) => one.points).filter(Boolean).map((one) => (common === null ? one : { ...one, error: 0 })));
  const marks = ticks(low, high);
  const [bottom, top] = [Math.min(low, marks[0]), Math.max(high, marks[marks.length - 1])];
  const left = 14 + 7.2 * Math.max(...marks.map((mark) => shortNumber(mark, largestOf(marks)).length));
  return figureOf(title, tell(`Lines of ${title}`, series, labels), (wide) => {
    const tall = 290;
    const x = (at) => left + 8 + ((times[at] - times[0]) / (times[times.length - 1] - times[0])) * (wide - left - 40);
    const y = (value) => tall - 34 - ((value - bottom) / (top - bottom)) * (tall - 48);
    const parts = marks.map((mark) => [s("line", { class: mark === 0 ? "base" : "axis", x1: left, x2: wide - 12, y1: y(mark), y2: y(mark) }),
      s("text", { class: "soft", x: left - 8, y: y(mark) + 4.5, "text-anchor": "end" }, shortNumber(mark, largestOf(marks)))]);
    const widest = 7.6 * Math.max(...labels.map((label) => label.length)) + 10;
    const step = STRIDES.find((one) => labels.every((_, at) => at < one || x(at) - x(at - one) >= widest)) || labels.length;
    labels.forEach((label, at) => {
      if (at % step === 0)
        parts.push(s("text", { class: "soft", x: Math.min(x(at), wide - label.length * 3.8), y: tall - 8, "text-anchor": "middle" }, label));
    });
    if (common !== null) {
      const [middle, half] = [(y(top) + y(bottom)) / 2, (y(0) - y(common))];
      parts.push(s("path", { class: "error", fill: "none", d: `M${wide - 8} ${middle - half}V${middle + half}M${wide - 12} ${middle - half}h8M${wide - 12} ${middle + half}h8` }));
    }
    return { tall, parts: [...parts, s("g", { class: dim ? "dim" : "" }, series.map((one, number) => lineParts(one.points, number, drawn, x, y)))] };
  }, series, [common === null ? "" : `The bar at the right is the error of every point: ± ${errorText(common)}.`, hint].filter(Boolean).join(" "));
}

/** Bars in groups: `labels` are the groups, `series` as those of lineChart. */
export function groupedChart({ title, labels, series, dim, hint }) {
  const { low, high } = reachOf(series.flatMap((one) => one.points).filter(Boolean));
  const marks = ticks(low, high);
  const [first, last] = [Math.min(low, marks[0]), Math.max(high, marks[marks.length - 1])];
  const left = Math.min(150, 24 + 7.2 * Math.max(...labels.map((label) => Math.min(18, label.length)), 3));
  const pitch = 13;
  const group = series.length * pitch + 14;
  const bottom = labels.length * group + 4;
  return figureOf(title, tell(`Bars of ${title}`, series, labels), (wide) => {
    const x = (value) => left + ((value - first) / (last - first)) * (wide - left - 24);
    const bars = labels.map((label, at) => [
      s("text", { x: left - 10, y: at * group + group / 2 + 2, "text-anchor": "end" }, short(label, 18)),
      series.map((one, number) => {
        const point = one.points[at];
        if (!point || typeof point.value !== "number") return null;
        const middle = at * group + 4 + number * pitch + pitch / 2;
        const ends = endsOf(point);
        const [a, b] = (ends || [point.value, point.value]).map(x);
        return s("g", { class: `tone-${number}` }, s("rect", { class: "bar-of", x: Math.min(x(0), x(point.value)), y: middle - 5, width: Math.max(1, Math.abs(x(point.value) - x(0))), height: 10, rx: 2 }),
          !ends ? null : ["halo", "whole"].map((style) => s("path", { class: style, fill: "none", d: `M${a} ${middle}H${b}M${a} ${middle - 3}v6M${b} ${middle - 3}v6` })));
      })]);
    return { tall: bottom + 24, parts: [axis({ marks, x }, bottom), s("g", { class: dim ? "dim" : "" }, bars)] };
  }, series, hint);
}

/** An error bar around zero, of half-width `error`, on an axis to `most`; `least`: the part that is certain. */
export function errorBar(error, most, least) {
  const wide = 360;
  const middle = wide / 2;
  const reach = (value) => Math.max(1.5, Math.min(1, value / most) * (middle - 26));
  const half = reach(error);
  const parts = [s("line", { class: "rail", x1: 26, x2: wide - 26, y1: 11, y2: 11 })];
  parts.push(s("rect", { class: "whisker-area grow", x: middle - half, y: 4, width: 2 * half, height: 14, rx: 3 }));
  if (least !== undefined && least < error)
    parts.push(s("rect", { class: "whisker-least grow", x: middle - reach(least), y: 4, width: 2 * reach(least), height: 14, rx: 3 }));
  parts.push(s("path", { class: "whisker", fill: "none", d: `M${middle - half} 11H${middle + half}M${middle - half} 4v14M${middle + half} 4v14` }));
  parts.push(s("circle", { cx: middle, cy: 11, r: 3.2, class: "dot" }));
  const end = most >= 1e4 ? shortNumber(most, most) : errorText(most);
  parts.push(s("text", { class: "tick", x: 26, y: 29, "text-anchor": "middle" }, `\u2212${end}`));
  parts.push(s("text", { class: "tick", x: wide - 26, y: 29, "text-anchor": "middle" }, `+${end}`));
  return s("svg", { viewBox: `0 0 ${wide} 30`, "aria-hidden": "true" }, parts);
}
