// What explain says about every column, before anything is spent: the bar that its answer will have.
//
// A bar in explain's own words (bar_95) is all of it, noise and what limits cut: a number, or a range while nobody has
// looked yet how much one person has. Where it depends on the data, explain says the noise of each measurement, and
// three kinds of columns still have a bar to look at:
// A mean has the noise of its sum and of its number of values. Its bar, brume_error_mean, is where |S - m n| stays
// within the 95 % width W(m) of the noise of S - m n, for means m no further than h from the middle of the bounds. W
// grows with |m|, so the bar is at most W(h) / n; W(h) is taken as sqrt(E_sum^2 + (h E_n)^2), which is exact for
// Gaussian noise and a little more than it for Laplace noise. It is shown for the n that is typed.
// A sum that shares these two measurements with a mean is S + c n, with c the middle of the bounds.
// A quantile and a mode have a bar in rows.
import { count } from "./format.js";
import { functionOf } from "./sql.js";

const LAPLACE_95 = Math.log(20);
const NORMAL_95 = 1.959963984540054;
const PLAUSIBLE = 100; // rows of one person, up to which explain makes its ranges

function half(measure) {
  return measure.bounds ? (measure.bounds[1] - measure.bounds[0]) / 2 : 1;
}

/** The noise of a measurement: {least, most}, which differ while its limit is to be chosen; null: not known. */
function noiseOf(measure, most) {
  if (typeof measure.error_95 === "number") return { least: measure.error_95, most: measure.error_95 };
  if (typeof measure.noise_per_sensitivity !== "number") return null;
  const one = measure.noise_per_sensitivity * (/gaussian/.test(measure.mechanism) ? NORMAL_95 : LAPLACE_95) *
    (measure.measure === "centred sum" ? half(measure) : 1);
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
  for (const [kind, word, unit] of [["quantiles", "rank_error_95", "rows in rank"], ["mode", "count_error_95", "rows behind the true mode"]]) {
    const bar = measures.length === 1 && measures[0].measure === kind ? inRows(measures[0], plan, word) : null;
    if (bar) return { name, unit, ...bar };
  }
  const sum = measures.find((one) => one.measure === "centred sum");
  const values = measures.find((one) => one.measure === "values" || one.measure === "rows"); // of rows where none is NULL
  const noises = measures.length === 2 && sum && values ? [sum, values].map((one) => noiseOf(one, mostRows(plan))) : [null];
  const kind = functionOf(plan.sql || "", name);
  if (noises.every(Boolean) && kind === "avg") {
    const width = half(sum);
    return { name, about: true, note: `in a group of ${count(size, "value")}; what a limit cuts comes with the answer`,
      ...combined(noises, ([ofSum, ofValues]) => Math.min(2 * width, Math.hypot(ofSum, width * ofValues) / size)) };
  }
  if (noises.every(Boolean) && kind === "sum") {
    const middle = Math.abs(sum.bounds[0] + sum.bounds[1]) / 2;
    return { name, about: true, note: "what a limit cuts comes with the answer", ...combined(noises, ([ofSum, ofValues]) => Math.hypot(ofSum, middle * ofValues)) };
  }
  return { name, unknown: true };
}

/** Every value column of a plan, in its order: {name, least, most} with `about`, `unit`, `note`, or `unknown`.
 * `size`: the values of a group, for means. */
export function columnErrors(plan, size) {
  return (plan.columns || []).filter((one) => one.role === "value").map(({ name, bar_95: bar, bar_about: about = false }) => {
    if (typeof bar === "number") return { name, least: bar, most: bar, about };
    if (Array.isArray(bar)) return { name, least: bar[0], most: bar[1], about };
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
export function limitText() {
  return `A range is for 1 to ${PLAUSIBLE} rows of one person, or up to the owner's ceiling. How many there are is looked up privately, for a part of the price; where some have more, the bar is longer. “More settings” buys that look alone, and the bars are then known.`;
}
