// A basket: several statements in the editor, each ended by ";", priced together and paid by one button.
import { h, icon } from "./dom.js";
import { costText } from "./format.js";

/** What explain says of each statement. */
export function plansOf(plan) {
  return plan ? plan.statements || [plan] : [];
}

/** Does asking it cost nothing, whatever price is set? Public tables, and SQL of recorded answers. */
export function isFree(plan) {
  return Boolean(plan.public || (plan.post_processed && !plan.cost.epsilon && !plan.cost.rho));
}

/** A price as ε: ρ as the ε that stands for it. */
export function epsilonOf(cost) {
  return cost.rho ? Math.sqrt(2 * cost.rho) : Number(cost.epsilon);
}

/** What the statements take of one dataset together, at most: in the unit of its budget, as ε. */
export function shareOf(plan, dataset) {
  const costs = plansOf(plan).filter((one) => one.cost && !one.recorded && (!one.datasets || one.datasets.includes(dataset))).map((one) => one.cost);
  const sum = costs.some((cost) => cost.rho) ? Math.sqrt(2 * costs.reduce((all, cost) => all + (cost.rho || 0), 0)) : costs.reduce((all, cost) => all + Number(cost.epsilon), 0);
  return Math.min(sum, epsilonOf(plan.cost));
}

/** A statement of the basket: what it asks, its price alone, its error bars, and a button that takes it out. */
export function basketItem(plan, bars, remove) {
  const words = plan.sql.replace(/\s+/g, " ").trim();
  const chip = isFree(plan) ? ["free", "free"] : plan.recorded ? ["free", "recorded, free"] : ["cost", costText(plan.cost)];
  return h("li", { class: "of-basket" },
    h("div", { class: "head-of" }, h("span", { class: "sql" }, words), h("span", { class: `chip ${chip[0]}` }, chip[1]),
      h("button", { class: "slight plain", type: "button", "aria-label": `Take out: ${words}`, onclick: remove }, icon("remove"))),
    h("ul", { class: "bars" }, bars));
}

/** The charges that have paid for an answer, by the newest events: its own, or those of the queries in it. */
export function chargesOf(answer, sql, events) {
  const paid = (text, cost) => events.slice().reverse().find((one) => one.sql && one.sql.trim() === text.trim() && one.state === "committed" && one.cost && cost &&
    ["epsilon", "delta", "rho"].every((word) => one.cost[word] === cost[word]));
  const own = paid(sql, answer.cost);
  return own ? [own.id] : [...new Set((answer.stages || []).map((one) => paid(one.sql, one.cost)).filter(Boolean).map((one) => one.id))];
}
