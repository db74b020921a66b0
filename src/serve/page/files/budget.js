// Budgets: how much is left, how much this question would take.
import { announce, clear, h, s } from "./dom.js";
import { api } from "./api.js";
import { count, leftText, priceText, roundDown } from "./format.js";
import { failure } from "./failure.js";

/** What there was and what is left. Under the rule concentrated that is ρ, for which ε stands as ρ = ε²/2. */
function amounts(one) {
  if (typeof one.remaining.rho === "number")
    return { sign: "ρ", whole: one.spent.rho + one.remaining.rho, left: one.remaining.rho, spent: one.spent.rho, of: (epsilon) => (epsilon * epsilon) / 2 };
  return { sign: "ε", whole: Number(one.budget.epsilon), left: Number(one.remaining.epsilon), spent: one.spent.epsilon, of: (epsilon) => epsilon };
}

/** A bar: what is left, and of it what a question at this ε would take. */
export function meter(label, one, epsilon = 0) {
  const { sign, whole, left, of } = amounts(one);
  const asked = of(epsilon);
  const over = asked > left + 1e-12;
  const share = (value) => Math.max(0, Math.min(100, (100 * value) / (whole || 1)));
  const after = Math.max(0, left - asked);
  const text = asked > 0
    ? (over ? `${sign} ${leftText(left)} left: not enough` : `${sign} ${leftText(left)} → ${leftText(after)} of ${leftText(whole)}`)
    : `${sign} ${leftText(left)} left of ${leftText(whole)}`;
  return h("div", { class: `meter${over ? " over" : ""}` },
    h("div", { class: "line" }, h("span", {}, label), h("span", {}, text)),
    s("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", { class: "ground", width: 100, height: 12 }),
      s("rect", { class: "left grow", width: share(left), height: 12 }),
      asked > 0 ? s("rect", { class: "asked grow", x: over ? 0 : share(after), width: over ? share(left) : share(left) - share(after), height: 12 }) : null));
}

/** Windows of a table that grows: a strip of runs, coloured by what is left, the newest at the right. */
function windows(one) {
  const most = 60;
  const amount = (left) => (typeof left.rho === "number" ? left.rho : left.epsilon);
  if (!one.windows) return null;
  const sign = typeof one.windows.untouched.rho === "number" ? "ρ" : "ε";
  const whole = amount(one.windows.untouched);
  const runs = one.windows.runs.slice(0, most).reverse();
  const text = (run) => `${run.first}${run.first === run.last ? "" : `..${run.last}`}: ${sign} ${leftText(amount(run.left))} of ${leftText(whole)} left`;
  return h("div", { class: "meter" },
    h("div", { class: "line" }, h("span", {}, `${one.dataset}: windows that have spent something`),
      h("span", {}, runs.length ? text(runs[runs.length - 1]) : `none yet: ${sign} ${leftText(whole)} each`)),
    s("svg", { viewBox: `0 0 ${runs.length || 1} 12`, preserveAspectRatio: "none", role: "img", "aria-label": runs.map(text).join("; ") },
      s("rect", { class: "ground", width: runs.length || 1, height: 12 }),
      runs.map((run, i) => s("rect", { class: "left", x: i, y: 12 - (12 * amount(run.left)) / (whole || 1), width: 0.9, height: (12 * amount(run.left)) / (whole || 1) },
        s("title", {}, text(run))))),
    one.no_budget ? h("p", {}, "A unit's whole history has no budget: beyond one window it is promised the sum of what was spent in all its windows.") : null);
}

/** The meters of one dataset: everybody's, and mine where I have an allotment. */
export function meters(one, asked = 0) {
  return [one.no_budget ? null : meter(`${one.dataset}: everybody's budget`, one, asked),
    windows(one),
    one.mine && one.mine.budget ? meter(`${one.dataset}: my allotment`, one.mine, asked) : null];
}

/** The most ε that one question can spend on it now. */
export function leftOf(one) {
  const most = (budget) => {
    const { sign, left } = amounts(budget);
    return sign === "ρ" ? Number((Math.sqrt(2 * left) * (1 - 1e-2)).toPrecision(3)) : left;
  };
  return Math.min(most(one), one.mine && one.mine.budget ? most(one.mine) : Infinity);
}

/** A price to begin with, never more than there is; empty where there is nothing. */
export function firstPrice(most) {
  return most > 0 ? String(roundDown(Math.min(most, 0.5))) : "";
}

/** Does what is left, everybody's and mine, pay for it? `cost`: of a plan, if there is one. */
export function affords(one, epsilon, cost) {
  const pays = (budget) => {
    const { left, of } = amounts(budget);
    return of(epsilon) <= left + 1e-12 && !(cost && cost.delta > budget.remaining.delta * (1 + 1e-9));
  };
  return pays(one) && !(one.mine && one.mine.budget && !pays(one.mine));
}

function card(one) {
  const { sign, spent } = amounts(one);
  return h("article", { class: "card" },
    h("div", { class: "bar" }, h("h2", {}, one.dataset), h("span", { class: "chip end" }, count(one.queries, "paid question"))),
    h("div", { class: "inside" }, meters(one),
      h("dl", { class: "facts" },
        h("dt", {}, "spent"), h("dd", { class: "number" }, `${sign} ${priceText(spent)}`,
          one.spent.delta ? `, δ ${priceText(one.spent.delta)}` : ""),
        one.budget.delta ? [h("dt", {}, "δ left"), h("dd", { class: "number" }, `${priceText(one.remaining.delta)} of ${priceText(one.budget.delta)}`)] : null,
        h("dt", {}, "rule"), h("dd", {}, one.rule),
        h("dt", {}, "neighbours"), h("dd", {}, one.adjacency === "replace" ? "replace one person's data" : "add or remove one person"))));
}

/** Who spent what, from the history: for owners and auditors. */
function spenders(events) {
  const sums = new Map();
  for (const event of events) {
    if (!event.cost) continue;
    const user = event.user || "owner at the shell";
    const key = `${user}\n${event.dataset}`;
    const sum = sums.get(key) || { user, dataset: event.dataset, epsilon: 0, rho: 0, delta: 0, count: 0 };
    sum.epsilon += Number(event.cost.epsilon) || 0;
    sum.rho += Number(event.cost.rho) || 0;
    sum.delta += Number(event.cost.delta) || 0;
    sum.count += 1;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.epsilon - a.epsilon);
}

function spendersCard(events) {
  const list = spenders(events);
  if (!list.length) return null;
  const most = Math.max(...list.map((one) => one.epsilon || one.rho));
  return h("section", { class: "card", "aria-labelledby": "spenders" },
    h("div", { class: "bar" }, h("h2", { id: "spenders" }, "Who spent what"),
      h("span", { class: "soft small" }, "prices as they were charged, added up")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who spent what" },
      h("table", {}, h("thead", {}, h("tr", {}, ["User", "Dataset"].map((text) => h("th", { scope: "col" }, text)),
        h("th", { scope: "col", class: "number" }, "Questions"), h("th", { scope: "col", class: "number" }, "Spent"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Share")))),
      h("tbody", {}, list.map((one) => h("tr", {}, h("th", { scope: "row" }, one.user), h("td", {}, one.dataset), h("td", { class: "number" }, one.count),
        h("td", { class: "number" }, one.rho ? `ρ ${priceText(one.rho)}` : `ε ${priceText(one.epsilon)}`, one.delta ? h("span", { class: "pm" }, ` δ ${priceText(one.delta)}`) : null),
        h("td", {}, s("svg", { class: "share", viewBox: "0 0 100 10", width: 120, height: 10, "aria-hidden": "true", preserveAspectRatio: "none" },
          s("rect", { width: (100 * (one.epsilon || one.rho)) / (most || 1), height: 10, rx: 2 })))))))));
}

export async function budgetView(main, state) {
  const list = h("div", { class: "grid", "aria-busy": "true" });
  const below = h("div", { class: "view" });
  clear(main, h("div", { class: "view" },
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Budgets"),
      h("p", {}, "Every dataset has one budget for all who ask, and it is never refilled: what an answer revealed stays revealed. ",
        "An allotment limits one person within it; reading, explaining and re-reading cost nothing."))), list, below));
  try {
    const budgets = await api.budgets();
    clear(list, budgets.length ? budgets.map(card) : h("p", { class: "empty" }, "No dataset has a budget yet."));
    list.removeAttribute("aria-busy");
    announce(`${budgets.length} budgets`);
    if (state.me.role !== "analyst") clear(below, spendersCard(await api.wholeHistory()));
  } catch (error) {
    clear(list, failure(error));
  }
}
