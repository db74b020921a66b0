// The question: SQL, its price with every column's error bar, and the answer. Moving the slider explains; only the
// one button that names a price spends.
import { announce, clear, debounce, field, fresh, h, icon } from "./dom.js";
import { api } from "./api.js";
import { answerCard } from "./answer.js";
import { errorBar } from "./chart.js";
import { columnErrors, groupsText, limitText } from "./preview.js";
import { costText, errorText, leftText, niceAbove, priceText } from "./format.js";
import { datasetsIn, tablesOf, tokens } from "./sql.js";
import { Editor } from "./editor.js";
import { failure } from "./failure.js";
import { stopButton } from "./stop.js";
import { leftOf, meters } from "./budget.js";

const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** The prices of the slider: from 0.01 up to what is left. */
function ladder(most) {
  const list = [];
  for (let power = -2; power <= 3; power += 1)
    for (const step of STEPS) {
      const value = Number((step * 10 ** power).toPrecision(3));
      if (value < most * (1 - 1e-9)) list.push(value);
    }
  if (most > 0) list.push(most);
  return list.length ? list : [0.01];
}

function nearest(list, value) {
  let best = 0;
  list.forEach((one, at) => {
    if (Math.abs(Math.log(one / value)) < Math.abs(Math.log(list[best] / value))) best = at;
  });
  return best;
}

/** A question that can be asked, of the dataset `about` if there is one. */
function example(shown, about) {
  const tables = tablesOf(shown).filter((table) => !table.public);
  const one = tables.find((table) => table.dataset === about) || tables[0];
  if (!one) return "";
  const key = one.columns.find((column) => column.domain);
  const value = one.columns.find((column) => column.low !== null && column.low !== undefined);
  const parts = [key ? key.name : null, "COUNT(*) AS n", value ? `AVG(${value.name}) AS mean_${value.name}` : null].filter(Boolean);
  return `SELECT ${parts.join(", ")}\nFROM ${one.table === one.dataset ? one.table : `${one.dataset}.${one.table}`}${key ? `\nGROUP BY ${key.name}` : ""}`;
}

/** Where in the question a message points to: "at position 17", or the first quoted word that stands there. */
function placeOf(message, sql) {
  const at = /at position (\d+)/.exec(message);
  if (at) return Number(at[1]) - 1;
  const word = /'([^']+)'/.exec(message);
  const found = word ? tokens(sql).find((token) => token.text.replaceAll('"', "").toLowerCase() === word[1].toLowerCase()) : null;
  return found ? found.at : null;
}

class AskView {
  constructor(main, state) {
    this.main = main;
    this.state = state;
    this.asked = state.asked;
    this.axes = new Map();
    this.turn = 0;
    this.explainSoon = debounce(220, () => this.explain());
    this.build();
  }

  // --- what is on the page ---

  build() {
    this.editor = new Editor({ text: this.asked.sql, label: "Question in SQL", submit: () => this.ask(),
      changed: (text) => { this.asked.sql = text; this.tune(); this.explainSoon(); } });
    this.problem = h("div");
    this.answer = h("div", { id: "answer" });
    this.tree = h("div", { class: "tree" }, h("p", { class: "soft small" }, "Loading…"));
    clear(this.main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Ask"),
        h("p", {}, "Write a question, see how exact its answer will be, then decide whether it is worth its price."))),
      h("div", { class: "asking" },
        h("div", { class: "view" },
          h("section", { class: "card", "aria-label": "Question" },
            h("div", { class: "bar" }, h("h2", {}, "Question"), h("span", { class: "soft small roomy" }, "SQL of PostgreSQL"),
              h("div", { class: "end" }, h("button", { class: "slight", type: "button", onclick: () => { this.editor.text = example(this.state.shown, this.asked.about); } }, "Example"),
                h("button", { class: "slight plain", type: "button", onclick: () => { this.editor.text = ""; this.editor.area.focus(); } }, "Clear"))),
            this.editor.element,
            h("details", { class: "names" }, h("summary", {}, "Tables and columns"), this.tree)),
          this.problem, this.answer),
        this.pricePanel())));
    if (this.asked.shown) this.showAnswer(this.asked.shown.answer, this.asked.shown.options, false);
  }

  pricePanel() {
    this.amount = h("input", { type: "text", inputmode: "decimal", value: this.asked.epsilon, "aria-label": "Price, epsilon", autocomplete: "off",
      oninput: () => this.typedAmount() });
    this.range = h("input", { type: "range", min: 0, max: 1, step: 1, "aria-label": "Price, epsilon, as a slider", oninput: () => this.slid() });
    this.ends = h("div", { class: "ends", "aria-hidden": "true" });
    this.within = h("input", { type: "text", inputmode: "decimal", value: this.asked.within, autocomplete: "off",
      oninput: () => { this.asked.within = this.within.value.trim(); this.touched(); } });
    this.size = h("input", { type: "text", inputmode: "numeric", value: this.asked.size, autocomplete: "off",
      oninput: () => { this.asked.size = this.size.value.trim(); this.drawErrors(); if (this.asked.mode === "within") this.touched(); } });
    this.delta = h("input", { type: "text", inputmode: "decimal", value: this.asked.delta, placeholder: "in proportion", autocomplete: "off",
      oninput: () => { this.asked.delta = this.delta.value.trim(); this.touched(); } });
    this.limit = h("input", { type: "text", inputmode: "decimal", value: this.asked.limit, placeholder: "chosen privately", autocomplete: "off",
      oninput: () => { this.asked.limit = this.limit.value.trim(); this.touched(); } });
    this.slide = h("div", { class: "slide" }, h("div", { class: "amount" }, h("span", { "aria-hidden": "true" }, "ε"), this.amount), this.range, this.ends);
    this.exact = field("Each value within ±", this.within, "The least price is found for which each value is that exact, 95 times of 100.");
    this.bars = h("ul", { class: "bars", "aria-label": "Error bar of every column" });
    this.groups = h("p", { class: "hint" });
    this.left = h("div", { class: "spend" });
    this.button = h("button", { class: "main", type: "button", onclick: () => this.ask() }, "Ask");
    this.try = h("button", { type: "button", onclick: () => this.rehearse() }, icon("flask"), "Try on made-up data, free");
    this.stop = stopButton();
    this.choose = h("button", { class: "slight", type: "button", onclick: () => this.buyLimits() }, "Buy the choice of limits alone");
    this.sizeField = field("Values in a group, for means", this.size, "A mean is the more exact, the more values it is of.");
    const panel = h("section", { class: "card price", "aria-label": "Price and error" },
      h("div", { class: "bar" }, h("h2", {}, "Price and error"), h("span", { class: "chip free" }, "nothing is spent by looking")),
      h("div", { class: "inside" }, this.modes(), this.slide, this.exact, h("p", { class: "hint" }, "How far off each column may be: 95 times of 100 the noise stays inside its bar."), this.bars, this.groups,
        h("details", {}, h("summary", {}, "More settings"), h("div", { class: "fields" }, this.sizeField,
          field("One person adds at most", this.limit, "A number, or column=number. Without it a tenth of the price chooses it."),
          field("δ of this question", this.delta, "Only where groups are private or noise is Gaussian.")),
        h("div", {}, this.choose, h("p", { class: "hint" }, "Later questions about the same rows and groups use limits that were bought, and then pay for their answers alone."))),
        h("div", { class: "spend" }, this.left, h("div", { class: "do" }, this.button, this.try, this.stop.button))),
      h("div", { class: "terms" },
        h("p", {}, h("span", { class: "chip free" }, "free"), "Looking at errors, trying on made-up data, reading an answer again, public tables."),
        h("p", {}, h("span", { class: "chip cost" }, "costs"), "A new question: its price, once. Nobody can give it back.")));
    this.setMode(this.asked.mode);
    return panel;
  }

  modes() {
    const name = fresh("mode");
    const one = (mode, text) => h("label", {}, h("input", { type: "radio", name, value: mode, checked: this.asked.mode === mode,
      onchange: () => { this.setMode(mode); this.touched(); } }), text);
    return h("div", {}, h("fieldset", { class: "modes" }, h("legend", { class: "unseen" }, "What is set"), one("price", "Set the price"), one("within", "Set the accuracy")));
  }

  setMode(mode) {
    this.asked.mode = mode;
    this.slide.hidden = mode !== "price";
    this.exact.hidden = mode !== "within";
  }

  // --- the price ---

  budgets() {
    const names = datasetsIn(this.asked.sql, this.state.shown);
    return this.state.budgets.filter((one) => names.includes(one.dataset));
  }

  /** The slider ends at what is left of what the question names. */
  tune() {
    const lefts = (this.budgets().length ? this.budgets() : this.state.budgets).map(leftOf);
    const most = lefts.length ? Math.min(...lefts) : 1;
    const key = String(most);
    if (this.most !== key) {
      this.most = key;
      this.prices = ladder(Math.min(most, 10));
      this.range.max = this.prices.length - 1;
      clear(this.ends, h("span", {}, `ε ${leftText(this.prices[0])}: more private`), h("span", {}, `ε ${leftText(this.prices[this.prices.length - 1])}: more exact`));
    }
    this.place();
    this.drawLeft();
  }

  place() {
    const value = Number(this.asked.epsilon);
    if (value > 0) this.range.value = nearest(this.prices, value);
    this.range.setAttribute("aria-valuetext", `epsilon ${this.asked.epsilon}`);
  }

  slid() {
    this.asked.epsilon = String(this.prices[Number(this.range.value)]);
    this.amount.value = this.asked.epsilon;
    this.range.setAttribute("aria-valuetext", `epsilon ${this.asked.epsilon}`);
    this.touched();
  }

  typedAmount() {
    this.asked.epsilon = this.amount.value.trim().replace(",", ".");
    this.place();
    this.touched();
  }

  /** The question as the server takes it; null while there is none. */
  question() {
    const sql = this.asked.sql.trim().replace(/;\s*$/, "");
    if (!sql) return null;
    const question = { sql };
    if (this.asked.mode === "within") {
      if (!(Number(this.asked.within) > 0)) return null;
      question.within = this.asked.within;
      if (/\b(avg|variance|var_|stddev)/i.test(sql)) question["at-least"] = this.asked.size;
    } else {
      if (!(Number(this.asked.epsilon) > 0)) return null;
      question.epsilon = this.asked.epsilon;
    }
    if (this.asked.delta) question.delta = this.asked.delta;
    if (this.asked.limit) question.limit = this.asked.limit;
    return question;
  }

  async explain() {
    const question = this.question();
    this.turn += 1;
    const turn = this.turn;
    if (this.running) this.running.abort();
    this.running = new AbortController();
    if (!question) {
      this.plan = null;
      clear(this.problem);
      this.drawErrors();
      this.drawLeft();
      return;
    }
    this.bars.classList.add("stale");
    try {
      const plan = await api.explain(question, this.running.signal);
      if (turn !== this.turn) return;
      this.plan = plan;
      this.planOf = JSON.stringify(question);
      clear(this.problem, (this.plan.warnings || []).map((text) => h("p", { class: "note cost" }, String(text))));
      this.editor.mark(null);
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.turn) return;
      this.plan = null;
      this.editor.mark(placeOf(error.message, this.asked.sql));
      clear(this.problem, failure(error));
    }
    this.bars.classList.remove("stale");
    this.drawErrors();
    this.drawLeft();
    if (this.plan) announce(this.told());
  }

  /** What is set has changed: the plan on the page is not its plan any more, until it is explained. */
  touched() {
    this.drawLeft();
    this.explainSoon();
  }

  /** The plan of what is set now; null while it is not there. Only what it says can be asked. */
  current() {
    return this.plan && this.planOf === JSON.stringify(this.question()) ? this.plan : null;
  }

  /** The price as ε: what explain found, or what is set; ρ as the ε that stands for it. */
  price() {
    const plan = this.current();
    if (plan && plan.cost) return plan.cost.rho ? Math.sqrt(2 * plan.cost.rho) : Number(plan.cost.epsilon);
    return this.asked.mode === "price" && Number(this.asked.epsilon) > 0 ? Number(this.asked.epsilon) : 0;
  }

  // --- error bars ---

  columns() {
    const size = Math.max(1, Number(this.asked.size) || 1000);
    return this.plan ? columnErrors(this.plan, size) : [];
  }

  told() {
    return `At epsilon ${priceText(this.price())}: ${this.columns().map((one) => `${one.name} ${this.errorWords(one)}`).join("; ")}. Nothing was spent.`;
  }

  errorWords(one) {
    if (one.parts) return "is made of several measurements";
    if (one.most === null) return `plus or minus ${errorText(one.least)} or more`;
    return `plus or minus ${one.least < one.most ? `${errorText(one.least)} to ` : ""}${errorText(one.most)} ${one.unit || ""}`;
  }

  /** The axis of a column stays while its bar fits well, so that a bar is seen to shrink and to grow. */
  axis(name, error) {
    const key = `${this.asked.sql}\n${name}`;
    const now = this.axes.get(key);
    if (now && error <= now && error >= now * 0.06) return now;
    const made = niceAbove(error * 1.15);
    this.axes.set(key, made);
    return made;
  }

  errorItem(one) {
    if (one.parts) {
      return h("li", {}, h("div", { class: "line" }, h("code", {}, one.name), h("span", { class: "soft small" }, "several measurements")),
        h("p", { class: "hint" }, one.parts.map((part) => `${part.measure} ± ${part.error === null ? "unknown" : part.error.most === null ? `${errorText(part.error.least)} × limit` : errorText(part.error.most)}`).join(", ")));
    }
    const shown = one.most === null ? one.least : one.most;
    const words = one.most !== null && one.least < one.most ? `${errorText(one.least)} … ${errorText(one.most)}` : `${errorText(shown)}${one.most === null ? " × limit" : ""}`;
    const steps = one.most === null ? `± ${errorText(10 * one.least)} where one person may add 10, ± ${errorText(100 * one.least)} for 100` : "";
    const notes = [one.note, one.unit, steps].filter(Boolean);
    return h("li", {}, h("div", { class: "line" }, h("code", {}, one.name), h("span", { class: "pm" }, `± ${words}`)),
      errorBar(shown, this.axis(one.name, shown), one.least, one.most === null), notes.length ? h("p", { class: "hint" }, notes.join("; ")) : null);
  }

  drawErrors() {
    const list = this.columns();
    this.sizeField.hidden = false;
    if (list.length) clear(this.bars, list.map((one) => this.errorItem(one)));
    else clear(this.bars, h("li", { class: "hint" }, this.plan ? "Public tables only: the answer is exact and free." : "The error bar of every column appears here as soon as the question can be read."));
    this.groups.textContent = this.plan ? [list.some((one) => !one.parts && one.least !== one.most) ? limitText(this.plan) : "", groupsText(this.plan)].filter(Boolean).join(" ") : "";
    this.groups.hidden = !this.groups.textContent;
  }

  drawLeft() {
    const again = this.paid() !== undefined;
    const price = again ? 0 : this.price();
    clear(this.left, this.budgets().flatMap((one) => meters(one, price)));
    if (this.busy) return;
    const plan = this.current();
    const costs = plan && plan.cost ? costText(plan.cost) : `ε ${priceText(price)}`;
    if (again) clear(this.button, icon("again"), "Read again, free");
    else clear(this.button, plan && plan.public ? "Ask, free" : price > 0 ? `Ask, spends ${costs}` : "Ask");
    this.button.disabled = !again && !plan;
    clear(this.choose, `Buy the choice of limits alone${this.asked.mode === "price" && price > 0 ? `, spends ε ${priceText(price)}` : ""}`);
    this.choose.disabled = !plan || Boolean(plan.public) || this.asked.mode !== "price";
    this.try.disabled = !plan || Boolean(plan.public);
  }

  // --- asking ---

  async run(button, text, call, options) {
    const question = this.question();
    if (!question || this.busy || button.disabled) return;
    this.busy = true;
    this.button.disabled = true;
    this.try.disabled = true;
    this.choose.disabled = true;
    clear(button, h("span", { class: "working", "aria-hidden": "true" }), text);
    announce(text);
    try {
      this.showAnswer(await this.stop.during((ticket) => call(question, ticket)), { ...options, sql: question.sql }, true);
    } catch (error) {
      const box = failure(error);
      clear(this.answer, box);
      box.scrollIntoView({ block: "nearest" });
    }
    this.busy = false;
    clear(this.try, icon("flask"), "Try on made-up data, free");
    await this.refresh();
    this.tune();
  }

  /** The charge that has paid for this question, in this visit; undefined: none has. */
  paid() { return this.asked.paid.get(JSON.stringify(this.question())); }

  ask() {
    const charge = this.paid();
    if (charge !== undefined) return this.run(this.button, "Reading…", () => api.recorded(charge), { madeUp: false });
    return this.run(this.button, "Asking…", (question, ticket) => this.askAndRemember(question, ticket), { madeUp: false });
  }

  /** What was paid for is read again by its charge: a request that has no price in it. */
  async askAndRemember(question, ticket) {
    const answer = await api.query(question, ticket);
    try {
      const charge = (await api.history()).events.reverse().find((one) => one.sql === question.sql && one.state === "committed" && one.cost &&
        ["epsilon", "delta", "rho"].every((word) => one.cost[word] === answer.cost[word]));
      if (charge) this.asked.paid.set(JSON.stringify(question), charge.id);
    } catch {
      // Then asking again finds the recorded answer by itself.
    }
    return answer;
  }

  /** What one person may add, chosen privately for later questions: all of the price goes into it. */
  buyLimits() {
    return this.run(this.choose, "Choosing…", ({ sql, epsilon }, ticket) => api.limits({ sql, epsilon }, ticket), { madeUp: false, title: "Limits" });
  }

  rehearse() { return this.run(this.try, "Rehearsing…", api.dummy, { madeUp: true }); }

  showAnswer(answer, options, focus) {
    this.asked.shown = { answer, options };
    const { card, heading, text } = answerCard(answer, options);
    clear(this.answer, card);
    if (!focus) return;
    announce(text);
    heading.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  // --- names ---

  async refresh() {
    try {
      this.state.budgets = await api.budgets();
    } catch {
      // The bars stay as they were.
    }
  }

  async load() {
    try {
      await Promise.all([this.state.loadPolicies(), this.refresh()]);
    } catch (error) {
      clear(this.problem, failure(error));
    }
    this.editor.learn(this.state.shown);
    if (!this.asked.sql) this.editor.text = example(this.state.shown, this.asked.about);
    clear(this.tree, tablesOf(this.state.shown).map((one) => h("details", {},
      h("summary", {}, h("code", {}, one.table), one.table === one.dataset ? null : h("span", { class: "soft small" }, ` of ${one.dataset}`), one.public ? h("span", { class: "chip free" }, "public") : null),
      h("ul", {}, one.columns.map((column) => h("li", {}, h("button", { class: "plain", type: "button", onclick: () => this.editor.insert(column.name) },
        h("code", {}, column.name), h("small", {}, column.domain ? `${column.domain.length} values` : column.low !== null && column.low !== undefined ? `${column.low} to ${column.high}` : column.type))))))));
    this.tune();
    this.explain();
  }
}

export async function askView(main, state) {
  await new AskView(main, state).load();
}
