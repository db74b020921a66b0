// What explain says about every column, before anything is spent: the bar that its answer will have.
//
// A bar in explain's own words (bar_95) is all of it, noise and what limits cut: a number, or a range while nobody has
// looked yet how much one person has. Where it depends on the data, explain says the noise of each measurement, and
// three kinds of columns still have a bar to look at:
// A mean has the noise of its sum and of its number of values. Its bar, brume_error_mean, is where |S - m n| stays
// within the 95 % width W(m) of the noise of S - m n, for means m in the bounds. W grows with |m| and is taken as
// sqrt(E_sum^2 + (m E_n)^2), which is exact for Gaussian noise and a little more than it for Laplace noise. The bar is
// about W(m) / n, for the n that is typed. A sum around the middle of the bounds has |m| up to half their width, and
// that is shown; a sum of the values themselves has a range, from the mean next to 0 to the largest.
// A sum that shares these two measurements with a mean is S + c n, with c the middle of the bounds.
// A quantile and a mode have a bar in rows.
import { count } from "./format.js";
import { functionOf } from "./sql.js";

const LAPLACE_95 = Math.log(20);
const NORMAL_95 = 1.959963984540054;
const PLAUSIBLE = 100; // rows of one person, up to which explain makes its ranges

/** How small and how large a value is in size, as its sum adds it up: {near, far}. */
function sizeOf({ measure, bounds }) {
  if (!bounds) return { near: 1, far: 1 };
  const [low, high] = bounds;
  if (measure === "centred sum") return { near: (high - low) / 2, far: (high - low) / 2 };
  return { near: low <= 0 && high >= 0 ? 0 : Math.min(Math.abs(low), Math.abs(high)), far: Math.max(Math.abs(low), Math.abs(high)) };
}

/** The noise of a measurement: {least, most}, which differ while its limit is to be chosen; null: not known. */
function noiseOf(measure, most) {
  if (typeof measure.error_95 === "number") return { least: measure.error_95, most: measure.error_95 };
  if (typeof measure.noise_per_sensitivity !== "number") return null;
  const one = measure.noise_per_sensitivity * (/gaussian/.test(measure.mechanism) ? NORMAL_95 : LAPLACE_95) *
    (/sum$/.test(measure.measure) ? sizeOf(measure).far : 1);
  return { least: one, most: one * most };
}

/** The most rows of one person that a range goes to: the owner's ceiling, where there is a lower one. */
function mostRows(plan) {
  const tops = (plan.limit_plan || []).filter((one) => one.statistic !== "groups" && typeof one.ceiling === "number").map((one) => one.ceiling);
  return Math.min(PLAUSIBLE, ...tops);
}

function combined(list, combine) {
  return { least: combine(list.map((one) => one.least)), most: combine(list.map((one) => one.most)) };
}

/** A bar in rows, of a quantile or a mode: {least, most}; null: none. */
function inRows(measure, plan, word) {
  if (typeof measure[word] === "number") return { least: measure[word], most: measure[word] };
  const first = (plan.limit_plan || []).flatMap((one) => one.ladder || []).find((one) => one.limit === 1 && typeof one[word] === "number");
  return first ? { least: first[word], most: first[word] * mostRows(plan) } : null;
}

/** The bar of a column that depends on the data, from the noise of what it is made of. */
function fromNoise(name, plan, size) {
  const measures = (plan.plan || []).filter((one) => (one.columns || []).includes(name));
  for (const [kind, word, unit, note] of [["quantiles", "rank_error_95", "rows in rank", "its interval of values comes with the answer"], ["mode", "count_error_95", "rows behind the true mode"]]) {
    const bar = measures.length === 1 && measures[0].measure === kind ? inRows(measures[0], plan, word) : null;
    if (bar) return { name, unit, note, open: bar.least < bar.most, ...bar };
  }
  const sum = measures.find((one) => /sum$/.test(one.measure));
  const values = measures.find((one) => one.measure === "values" || one.measure === "rows"); // of rows where none is NULL
  const noises = measures.length === 2 && sum && values ? [sum, values].map((one) => noiseOf(one, mostRows(plan))) : [null];
  const kind = functionOf(plan.sql || "", name);
  if (!noises.every(Boolean)) return { name, unknown: true };
  const [ofSum, ofValues] = noises;
  const open = noises.some((one) => one.least < one.most);
  if (kind === "avg") {
    const { near, far } = sizeOf(sum);
    const bar = (noise, number, mean) => Math.min(sum.bounds[1] - sum.bounds[0], Math.hypot(noise, mean * number) / size);
    return { name, about: true, open, sized: true, least: bar(ofSum.least, ofValues.least, near), most: bar(ofSum.most, ofValues.most, far),
      note: `in a group of ${count(size, "value")}${near < far ? ", the longer the larger the mean" : ""}; what a limit cuts comes with the answer` };
  }
  if (kind === "sum" && sum.measure === "centred sum") {
    const middle = Math.abs(sum.bounds[0] + sum.bounds[1]) / 2;
    return { name, about: true, open, note: "what a limit cuts comes with the answer", ...combined(noises, ([noise, number]) => Math.hypot(noise, middle * number)) };
  }
  return { name, unknown: true };
}

/** Every value column of a plan, in its order: {name, least, most} with `about`, `unit`, `note`, or `unknown`. `open`: it is
 * a range because nobody has looked yet how much one person has; `sized`: it is for a group of `size` values. */
export function columnErrors(plan, size) {
  return (plan.columns || []).filter((one) => one.role === "value").map(({ name, bar_95: bar, bar_about: about = false }) => {
    if (typeof bar === "number") return { name, least: bar, most: bar, about };
    if (Array.isArray(bar)) return { name, least: bar[0], most: bar[1], about, open: true };
    return plan.public ? null : fromNoise(name, plan, size);
  }).filter(Boolean);
}

/** What the plan says about its groups, in one sentence. */
export function groupsText(plan) {
  const shape = plan.shape || {};
  if (shape.private_keys)
    return `The groups are private: one is shown if about ${shape.threshold} people or more are in it; which there are costs part of the price.`;
  if (shape.groups > 1) return `${shape.groups} groups, known without anybody's data: all are answered, also empty ones.`;
  return "";
}

/** Why an error is a range, in one sentence. */
export function limitText({ unit = "person", rows = "rows" } = {}) {
  return `A range is for 1 to ${PLAUSIBLE} ${rows} of one ${unit}, or up to the owner's ceiling. How many there are is looked up privately, for a part of the price; where some have more, the bar is longer. “More settings” buys that look alone, and the bars are then known.`;
}
