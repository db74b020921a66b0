// The question: SQL, its price with every column's error bar, and the answer. Moving the slider explains; only the
// one button that names a price spends.
import { announce, clear, debounce, field, fresh, h, icon } from "./dom.js";
import { api } from "./api.js";
import { answerCard } from "./answer.js";
import { errorBar } from "./chart.js";
import { columnErrors, groupsText, limitText } from "./preview.js";
import { costText, errorText, niceAbove, priceText } from "./format.js";
import { datasetsIn, tablesOf } from "./sql.js";
import { Editor } from "./editor.js";
import { failure } from "./failure.js";
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

function example(shown) {
  const [one] = tablesOf(shown).filter((table) => !table.public);
  if (!one) return "";
  const key = one.columns.find((column) => column.domain);
  const value = one.columns.find((column) => column.low !== null && column.low !== undefined);
  const parts = [key ? key.name : null, "COUNT(*) AS n", value ? `AVG(${value.name}) AS mean_${value.name}` : null].filter(Boolean);
  return `SELECT ${parts.join(", ")}\nFROM ${one.table}${key ? `\nGROUP BY ${key.name}` : ""}`;
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
              h("div", { class: "end" }, h("button", { class: "slight", type: "button", onclick: () => { this.editor.text = example(this.state.shown); } }, "Example"),
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
      oninput: () => { this.asked.within = this.within.value.trim(); this.explainSoon(); } });
    this.size = h("input", { type: "text", inputmode: "numeric", value: this.asked.size, autocomplete: "off",
      oninput: () => { this.asked.size = this.size.value.trim(); this.drawErrors(); if (this.asked.mode === "within") this.explainSoon(); } });
    this.delta = h("input", { type: "text", inputmode: "decimal", value: this.asked.delta, placeholder: "in proportion", autocomplete: "off",
      oninput: () => { this.asked.delta = this.delta.value.trim(); this.explainSoon(); } });
    this.limit = h("input", { type: "text", inputmode: "decimal", value: this.asked.limit, placeholder: "chosen privately", autocomplete: "off",
      oninput: () => { this.asked.limit = this.limit.value.trim(); this.explainSoon(); } });
    this.slide = h("div", { class: "slide" }, h("div", { class: "amount" }, h("span", { "aria-hidden": "true" }, "ε"), this.amount), this.range, this.ends);
    this.exact = field("Each value within ±", this.within, "The least price is found for which each value is that exact, 95 times of 100.");
    this.bars = h("ul", { class: "bars", "aria-label": "Error bar of every column" });
    this.groups = h("p", { class: "hint" });
    this.left = h("div", { class: "spend" });
    this.button = h("button", { class: "main", type: "button", onclick: () => this.ask() }, "Ask");
    this.try = h("button", { type: "button", onclick: () => this.rehearse() }, icon("flask"), "Try on made-up data, free");
    this.sizeField = field("Values in a group, for means", this.size, "A mean is the more exact, the more values it is of.");
    const panel = h("section", { class: "card price", "aria-label": "Price and error" },
      h("div", { class: "bar" }, h("h2", {}, "Price and error"), h("span", { class: "chip free" }, "nothing is spent by looking")),
      h("div", { class: "inside" }, this.modes(), this.slide, this.exact, h("p", { class: "hint" }, "How far off each column may be: 95 times of 100 the noise stays inside its bar."), this.bars, this.groups,
        h("details", {}, h("summary", {}, "More settings"), h("div", { class: "fields" }, this.sizeField,
          field("One person adds at most", this.limit, "A number, or column=number. Without it a tenth of the price chooses it."),
          field("δ of this question", this.delta, "Only where groups are private or noise is Gaussian."))),
        h("div", { class: "spend" }, this.left, h("div", { class: "do" }, this.button, this.try))),
      h("div", { class: "terms" },
        h("p", {}, h("span", { class: "chip free" }, "free"), "Looking at errors, trying on made-up data, reading an answer again, public tables."),
        h("p", {}, h("span", { class: "chip cost" }, "costs"), "A new question: its price, once. Nobody can give it back.")));
    this.setMode(this.asked.mode);
    return panel;
  }

  modes() {
    const name = fresh("mode");
    const one = (mode, text) => h("label", {}, h("input", { type: "radio", name, value: mode, checked: this.asked.mode === mode,
      onchange: () => { this.setMode(mode); this.explainSoon(); } }), text);
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
      clear(this.ends, h("span", {}, `ε ${priceText(this.prices[0])}: more private`), h("span", {}, `ε ${priceText(this.prices[this.prices.length - 1])}: more exact`));
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
    this.drawLeft();
    this.explainSoon();
  }

  typedAmount() {
    this.asked.epsilon = this.amount.value.trim().replace(",", ".");
    this.place();
    this.drawLeft();
    this.explainSoon();
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
      this.plan = await api.explain(question, this.running.signal);
      if (turn !== this.turn) return;
      clear(this.problem, (this.plan.warnings || []).map((text) => h("p", { class: "note cost" }, String(text))));
      this.editor.mark(null);
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.turn) return;
      this.plan = null;
      const at = /at position (\d+)/.exec(error.message);
      this.editor.mark(at ? Number(at[1]) - 1 : null);
      clear(this.problem, failure(error));
    }
    this.bars.classList.remove("stale");
    this.drawErrors();
    this.drawLeft();
    if (this.plan) announce(this.told());
  }

  price() {
    if (this.asked.mode === "price" && Number(this.asked.epsilon) > 0 && !(this.plan && !this.plan.cost)) return Number(this.asked.epsilon);
    return this.plan && this.plan.cost ? Number(this.plan.cost.rho || this.plan.cost.epsilon) : 0;
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
        h("p", { class: "hint" }, one.parts.map((part) => `${part.measure} ± ${part.error === null ? "by its limit" : errorText(part.error)}`).join(", ")));
    }
    const shown = one.most === null ? one.least : one.most;
    const words = one.most !== null && one.least < one.most ? `${errorText(one.least)} … ${errorText(one.most)}` : `${errorText(shown)}${one.most === null ? " × limit" : ""}`;
    const notes = [one.note, one.unit].filter(Boolean);
    return h("li", {}, h("div", { class: "line" }, h("code", {}, one.name), h("span", { class: "pm" }, `± ${words}`)),
      errorBar(shown, this.axis(one.name, shown), one.least), notes.length ? h("p", { class: "hint" }, notes.join("; ")) : null);
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
    const price = this.price();
    clear(this.left, this.budgets().flatMap((one) => meters(one, price)));
    if (this.busy) return;
    clear(this.button, price > 0 ? `Ask, spends ${this.plan && this.plan.cost ? costText(this.plan.cost) : `ε ${priceText(price)}`}` : "Ask");
    this.button.disabled = !this.question();
    this.try.disabled = !this.question();
  }

  // --- asking ---

  async run(button, text, call, options) {
    const question = this.question();
    if (!question || this.busy) return;
    this.busy = true;
    this.button.disabled = true;
    this.try.disabled = true;
    clear(button, h("span", { class: "working", "aria-hidden": "true" }), text);
    announce(text);
    try {
      this.showAnswer(await call(question), options, true);
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

  ask() { return this.run(this.button, "Asking…", api.query, { madeUp: false }); }

  rehearse() { return this.run(this.try, "Rehearsing…", api.dummy, { madeUp: true }); }

  showAnswer(answer, options, focus) {
    this.asked.shown = { answer, options };
    const { card, heading, text } = answerCard(answer, { ...options, width: this.answer.clientWidth || this.main.clientWidth || 900 });
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
    if (!this.asked.sql) this.editor.text = example(this.state.shown);
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
