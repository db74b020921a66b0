// What explain says about every column, before anything is spent: its error bar at a price.
//
// Of a count or sum the error is explain's own. Where the limit of what one person may add is still to be chosen
// (privately, from a share of the price), the error grows in proportion to it: it is shown at a limit of 1 and at
// the owner's ceiling. A mean has the noise of its sum and of its number of values. Its bar, brume_error_mean, is
// where |S - m n| stays within the 95 % width W(m) of the noise of S - m n, for means m no further than h from the
// middle of the bounds. W grows with |m|, so the bar is at most W(h) / n; W(h) is taken as sqrt(E_sum^2 + (h E_n)^2),
// which is exact for Gaussian noise and a little more than it for Laplace noise. It is shown for the n that is typed.

const LAPLACE_95 = Math.log(20);
const NORMAL_95 = 1.959963984540054;

function half(measure) {
  return measure.bounds ? (measure.bounds[1] - measure.bounds[0]) / 2 : 1;
}

function perUnit(measure) {
  if (measure.measure === "centred sum") return half(measure);
  if (measure.measure === "sum" && measure.bounds) return Math.max(Math.abs(measure.bounds[0]), Math.abs(measure.bounds[1]));
  if (measure.measure === "centred squares") return (half(measure) ** 2 + 1) / 2;
  return 1;
}

/** The error of a measurement: {least, most}; `most` is null where nobody knows the limit. */
function errorOf(measure, ceiling) {
  if (typeof measure.error_95 === "number") return { least: measure.error_95, most: measure.error_95 };
  if (typeof measure.noise_per_sensitivity !== "number") return null;
  const factor = /gaussian/.test(measure.mechanism) ? NORMAL_95 : LAPLACE_95;
  const one = measure.noise_per_sensitivity * factor * perUnit(measure);
  return { least: one, most: typeof ceiling === "number" ? one * ceiling : null };
}

function ceilingFor(plan, measure) {
  const statistic = ["rows", "units"].includes(measure.measure) ? "rows" : "values";
  const found = (plan.limit_plan || []).find((one) => one.statistic === statistic) || (plan.limit_plan || [])[0];
  return found && typeof found.ceiling === "number" ? found.ceiling : null;
}

function both(list, combine) {
  const known = list.every((one) => one && one.most !== null);
  return { least: combine(list.map((one) => one.least)), most: known ? combine(list.map((one) => one.most)) : null };
}

function rankLadder(plan) {
  for (const one of plan.limit_plan || [])
    if (one.ladder && one.ladder[0] && typeof one.ladder[0].rank_error_95 === "number") return { at: one.ladder[0].rank_error_95, ceiling: one.ceiling };
  return null;
}

function ofColumn(name, measures, plan, size) {
  const find = (word) => measures.find((one) => one.measure === word);
  const quantile = find("quantiles");
  if (quantile) {
    const ladder = rankLadder(plan);
    if (typeof quantile.rank_error_95 === "number") return { name, unit: "rows in rank", least: quantile.rank_error_95, most: quantile.rank_error_95 };
    if (ladder) return { name, unit: "rows in rank", least: ladder.at, most: ladder.ceiling ? ladder.at * ladder.ceiling : null };
  }
  const mode = find("mode");
  if (mode && typeof mode.count_error_95 === "number") return { name, unit: "rows behind the true mode", least: mode.count_error_95, most: mode.count_error_95 };
  const errors = measures.map((one) => errorOf(one, ceilingFor(plan, one)));
  const sum = find("centred sum");
  const values = find("values") || find("rows"); // the number of rows where no value is NULL
  if (measures.length === 2 && sum && values && errors.every(Boolean)) {
    const width = half(sum);
    const [ofSum, ofValues] = [errors[measures.indexOf(sum)], errors[measures.indexOf(values)]];
    return { name, mean: true, note: `in a group of ${size} values`,
      ...both([ofSum, ofValues], ([a, b]) => Math.min(2 * width, Math.hypot(a, width * b) / size)) };
  }
  if (measures.length === 1 && sum && errors[0]) {
    return { name, ...errors[0] };
  }
  if (measures.length === 1 && errors[0]) return { name, ...errors[0] };
  return { name, parts: measures.map((one, number) => ({ measure: one.measure, error: errors[number] })) };
}

/** Every value column of a plan, in the order of the plan. `size`: the values of a group, for means. */
export function columnErrors(plan, size) {
  const names = [...new Set((plan.plan || []).flatMap((one) => one.columns || []))];
  return names.map((name) => ofColumn(name, plan.plan.filter((one) => (one.columns || []).includes(name)), plan, size));
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
export function limitText(plan) {
  const share = plan.limits && plan.limits.share ? Math.round(100 * plan.limits.share) : 0;
  const tops = (plan.limit_plan || []).map((one) => one.ceiling).filter((one) => typeof one === "number");
  const range = tops.length ? `, from 1 to ${Math.max(...tops)},` : "";
  const how = tops.length ? "the error grows with it, hence the range" : "the error is so many times the one shown, hence the open bars";
  return `What one person may add${range} is chosen privately, for ${share} % of the price; ${how}.`;
}
