// Bars with whiskers, in SVG. Lengths are linear, the axis begins at zero or shows it.
import { clear, h, s } from "./dom.js";
import { errorText, niceAbove, valueText } from "./format.js";

const MOST = 40;

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

function shortNumber(value) {
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (size >= 10 * unit) return `${Number((value / unit).toPrecision(4))} ${letter}`.replace("-", "\u2212");
  return String(Number(value.toPrecision(4))).replace("-", "\u2212");
}

function frame(drawn, wide) {
  const left = Math.min(150, 24 + 7.2 * Math.max(...drawn.map((row) => Math.min(18, row.label.length)), 3));
  const right = wide - 24 - 7.4 * Math.max(...drawn.map((row) => valueText(row.value, row.error).length), 3);
  const ends = drawn.filter((row) => typeof row.value === "number").flatMap((row) => [row.value - (row.error || 0), row.value + (row.error || 0)]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const marks = ticks(low, high === low ? low + 1 : high);
  const first = Math.min(low, marks[0]);
  const last = Math.max(high, marks[marks.length - 1]);
  return { left, marks, x: (value) => left + ((value - first) / (last - first || 1)) * (right - left) };
}

function axis({ marks, x }, bottom) {
  const parts = [];
  let free = -Infinity;
  for (const mark of marks) {
    parts.push(s("line", { class: mark === 0 ? "base" : "axis", x1: x(mark), x2: x(mark), y1: 2, y2: bottom }));
    const text = shortNumber(mark);
    if (x(mark) - text.length * 3.6 > free) {
      parts.push(s("text", { class: "soft", x: x(mark), y: bottom + 17, "text-anchor": "middle" }, text));
      free = x(mark) + text.length * 3.6 + 6;
    }
  }
  return parts;
}

function rowParts(row, middle, { left, x }, dim) {
  const label = s("text", { x: left - 10, y: middle + 4.5, "text-anchor": "end" }, short(row.label, 18));
  if (typeof row.value !== "number") return [label, s("text", { class: "soft", x: x(0) + 8, y: middle + 4.5 }, valueText(row.value))];
  const parts = [label, s("rect", { class: `bar-of${dim ? " dim" : ""}`, x: Math.min(x(0), x(row.value)), y: middle - 10,
    width: Math.max(1, Math.abs(x(row.value) - x(0))), height: 20, rx: 3 })];
  if (row.error !== null) {
    const [a, b] = [x(row.value - row.error), x(row.value + row.error)];
    for (const style of ["halo", "error"])
      parts.push(s("path", { class: style, fill: "none", d: `M${a} ${middle}H${b}M${a} ${middle - 5}v10M${b} ${middle - 5}v10` }));
  }
  const end = Math.max(x(row.value + (row.error || 0)), x(0));
  return [...parts, s("text", { x: end + 8, y: middle + 4.5 }, valueText(row.value, row.error))];
}

/** A figure of one value column: rows are {label, value, error (null: none)}; `dim`: made-up data. It is drawn anew
 * when the room it has changes. */
export function barChart({ title, rows, dim }) {
  const drawn = rows.slice(0, MOST);
  const pitch = 32;
  const bottom = drawn.length * pitch + 6;
  const told = drawn.map((row) => `${row.label} ${valueText(row.value, row.error)}${row.error === null ? "" : ` plus or minus ${errorText(row.error)}`}`);
  const picture = s("svg", { role: "img", "aria-label": `Bars of ${title}: ${told.join("; ")}` });
  const draw = (room) => {
    const wide = Math.max(240, Math.min(room, 760));
    const made = frame(drawn, wide);
    picture.setAttribute("viewBox", `0 0 ${wide} ${bottom + 24}`);
    picture.style.maxWidth = `${wide}px`;
    clear(picture, axis(made, bottom), drawn.map((row, number) => rowParts(row, number * pitch + 20, made, dim)));
  };
  draw(560);
  const figure = h("figure", { class: "chart" }, h("figcaption", {}, h("code", {}, title)), picture,
    rows.length > drawn.length ? h("p", { class: "hint" }, `The first ${drawn.length} of ${rows.length} rows; the table has all.`) : null);
  new ResizeObserver(([entry]) => draw(entry.contentRect.width)).observe(figure);
  return figure;
}

/** An error bar around zero, of half-width `error`, on an axis to `most`; `least`: the part that is certain; `open`:
 * nobody knows how far it goes. */
export function errorBar(error, most, least, open = false) {
  const wide = 360;
  const middle = wide / 2;
  const reach = (value) => Math.max(1.5, Math.min(1, value / most) * (middle - 26));
  const half = reach(error);
  const parts = [s("line", { class: "rail", x1: 26, x2: wide - 26, y1: 11, y2: 11 })];
  parts.push(s("rect", { class: "whisker-area grow", x: middle - half, y: 4, width: 2 * half, height: 14, rx: 3 }));
  if (least !== undefined && least < error)
    parts.push(s("rect", { class: "whisker-least grow", x: middle - reach(least), y: 4, width: 2 * reach(least), height: 14, rx: 3 }));
  if (open) {
    parts.push(s("path", { class: "whisker open", fill: "none", d: `M30 11H${wide - 30}M36 6l-6 5 6 5M${wide - 36} 6l6 5-6 5` }));
    parts.push(s("circle", { cx: middle, cy: 11, r: 3.2, class: "dot" }));
    return s("svg", { viewBox: `0 0 ${wide} 22`, "aria-hidden": "true" }, parts);
  }
  parts.push(s("path", { class: "whisker", fill: "none", d: `M${middle - half} 11H${middle + half}M${middle - half} 4v14M${middle + half} 4v14` }));
  parts.push(s("circle", { cx: middle, cy: 11, r: 3.2, class: "dot" }));
  parts.push(s("text", { class: "tick", x: 26, y: 29, "text-anchor": "middle" }, `\u2212${errorText(most)}`));
  parts.push(s("text", { class: "tick", x: wide - 26, y: 29, "text-anchor": "middle" }, `+${errorText(most)}`));
  return s("svg", { viewBox: `0 0 ${wide} 30`, "aria-hidden": "true" }, parts);
}
