// The question: SQL, its price with every column's error bar, and the answer. Moving the slider explains; only the
// one button that names a price spends.
import { announce, clear, debounce, field, fresh, h, icon } from "./dom.js";
import { api } from "./api.js";
import { answerCard } from "./answer.js";
import { basketItem, chargesOf, epsilonOf, isFree, plansOf, shareOf } from "./basket.js";
import { errorBar } from "./chart.js";
import { columnErrors, groupsText, limitText } from "./preview.js";
import { costText, errorText, leftText, niceAbove, priceText, roundDown } from "./format.js";
import { datasetsIn, describe, fromOf, isBounded, tablesOf, tokens } from "./sql.js";
import { Editor } from "./editor.js";
import { failure } from "./failure.js";
import { stopButton } from "./stop.js";
import { affords, firstPrice, leftOf, meters } from "./budget.js";

const PAUSE = 1200; // milliseconds without a key, after which a question is no longer being typed
const RECENT = 5;
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
  const value = one.columns.find(isBounded);
  const parts = [key ? key.name : null, "COUNT(*) AS n", value ? `AVG(${value.name}) AS mean_${value.name}` : null].filter(Boolean);
  return `SELECT ${parts.join(", ")}\nFROM ${fromOf(one)}${key ? `\nGROUP BY ${key.name}` : ""}`;
}

/** Where in the question a message points to: "at position 17", or the first quoted word that stands there. */
function placeOf(message, sql) {
  const at = /at position (\d+)/.exec(message);
  if (at) return Number(at[1]) - 1;
  const word = /'([^']+)'/.exec(message);
  const found = word ? tokens(sql).find((token) => token.text.replaceAll('"', "").toLowerCase() === word[1].toLowerCase()) : null;
  return found ? found.at : null;
}

/** The address of a question: whoever opens it has it in the editor, and has spent nothing. */
function linkTo(sql) {
  return `#/ask/${encodeURIComponent(sql.trim())}`;
}

class AskView {
  constructor(main, state) {
    this.main = main;
    this.state = state;
    this.asked = state.asked;
    this.axes = new Map();
    this.charges = new WeakMap(); // of an answer: what has paid for it
    this.stop = stopButton();
    this.turn = 0;
    this.explainSoon = debounce(220, () => this.explain());
    this.typedAt = -PAUSE;
    this.build();
  }

  // --- what is on the page ---

  build() {
    this.editor = new Editor({ text: this.asked.sql, label: "Question in SQL", submit: () => this.submit(), changed: (text) => this.changed(text) });
    this.editor.area.addEventListener("blur", () => { if (this.wrong) this.showWrong(); });
    this.problem = h("div", { class: "problem" });
    this.answer = h("div", { id: "answer" });
    this.recent = h("div", { class: "recent" });
    this.tree = h("div", { class: "tree" }, h("p", { class: "soft small" }, "Loading…"));
    this.names = h("details", { class: "names", open: !matchMedia("(max-width: 40rem)").matches }, h("summary", {}, "Tables and columns"), this.tree);
    this.link = h("a", { class: "button slight", href: linkTo(this.asked.sql), onclick: (event) => this.copyLink(event) }, "Link");
    clear(this.main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Ask"),
        h("p", {}, "Write a question, see how exact its answer will be, then decide whether it is worth its price."))),
      h("div", { class: "asking" },
        h("div", { class: "view" },
          h("section", { class: "card", "aria-label": "Question" },
            h("div", { class: "bar" }, h("h2", {}, "Question"), h("span", { class: "soft small roomy" }, "SQL of PostgreSQL"),
              h("div", { class: "end" }, this.link, h("button", { class: "slight", type: "button", onclick: () => { this.editor.text = example(this.state.shown, this.asked.about); } }, "Example"),
                h("button", { class: "slight", type: "button", title: "Several questions, each ended by a semicolon, are priced and asked together", onclick: () => this.addQuestion() }, icon("plus"), "Another"),
                h("button", { class: "slight plain", type: "button", onclick: () => { this.editor.text = ""; this.editor.area.focus(); } }, "Clear"))),
            this.editor.element, this.problem, this.names),
          this.answer, this.recent),
        this.pricePanel())), this.stop.element);
    if (this.asked.shown) this.showAnswers(this.asked.shown, false);
  }

  /** One more statement below those that are there. */
  addQuestion() {
    const text = this.editor.text.trim().replace(/;$/, "");
    this.editor.text = `${text ? `${text};\n\n` : ""}${example(this.state.shown, this.asked.about)}`;
    this.editor.area.focus();
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
    this.basket = h("p", { class: "hint", hidden: true }, "Each question has the price that is set. What is asked twice is paid once, and what is recorded is free.");
    this.groups = h("p", { class: "hint" });
    this.left = h("div", { class: "spend" });
    this.button = h("button", { class: "main", type: "button", onclick: () => this.ask() }, "Ask");
    this.try = h("button", { type: "button", onclick: () => this.rehearse() }, icon("flask"), "Try on made-up data, free");
    this.choose = h("button", { class: "slight spends", type: "button", onclick: () => this.buyLimits() }, "Buy the choice of limits alone");
    this.sizeField = field("Values in a group, for means", this.size, "A mean is the more exact, the more values it is of.");
    const panel = h("section", { class: "card price", "aria-label": "Price and error" },
      h("div", { class: "bar" }, h("h2", {}, "Price and error"), h("span", { class: "chip free" }, "nothing is spent by looking")),
      h("div", { class: "inside" }, this.modes(), this.slide, this.exact, h("p", { class: "hint" }, "How far off each column may be, 95 times of 100: the noise, and what limits cut."), this.basket, this.bars, this.sizeField, this.groups,
        h("details", {}, h("summary", {}, "More settings"), h("div", { class: "fields" },
          field("One person adds at most", this.limit, "A number, or column=number. Without it a tenth of the price chooses it."),
          field("δ of this question", this.delta, "Only where groups are private or noise is Gaussian.")),
        h("div", {}, this.choose, h("p", { class: "hint" }, "Later questions about the same rows and groups use limits that were bought, and then pay for their answers alone."))),
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
      onchange: () => { this.setMode(mode); this.touched(); } }), text);
    return h("div", {}, h("fieldset", { class: "modes" }, h("legend", { class: "unseen" }, "What is set"), one("price", "Set the price"), one("within", "Set the accuracy")));
  }

  setMode(mode) {
    this.asked.mode = mode;
    this.slide.hidden = mode !== "price";
    this.exact.hidden = mode !== "within";
  }

  /** The question is another one: what was said of the one before goes. */
  changed(text) {
    this.asked.sql = text;
    this.typedAt = performance.now();
    this.wrong = null;
    clear(this.problem);
    if (this.failed) clear(this.answer);
    this.failed = false;
    this.link.href = linkTo(text);
    this.tune();
    this.fitPrice();
    this.explainSoon();
  }

  /** Ctrl-Enter: ask, or say now why that is no question yet. */
  submit() {
    if (this.wrong) this.showWrong();
    else this.ask();
  }

  /** What is wrong, as a remark while somebody is at the question, else as an error. */
  showWrong(quiet = false) {
    clear(this.problem, failure(this.wrong, { quiet }));
  }

  async copyLink(event) {
    event.preventDefault();
    history.replaceState(null, "", this.link.href);
    let done = "The address bar has the link";
    try {
      await navigator.clipboard.writeText(this.link.href);
      done = "Copied";
    } catch {
      // Not every browser hands the clipboard over.
    }
    announce(done);
    clear(this.link, done);
    setTimeout(() => clear(this.link, "Link"), 2000);
  }

  // --- the price ---

  /** A price that nobody has typed for this question is never more than what is left. */
  fitPrice() {
    const most = this.most();
    if (!(Number(this.asked.epsilon) > most) && this.asked.epsilon !== "") return;
    this.asked.epsilon = firstPrice(most);
    this.amount.value = this.asked.epsilon;
    this.place();
    this.drawLeft();
  }

  /** The most that one question on what is named can spend: what is left, and the owner's cap. */
  most() {
    const list = this.budgets().length ? this.budgets() : this.state.budgets;
    const caps = this.state.shown.filter((one) => list.some((other) => other.dataset === one.dataset)).map((one) => Number(one.cap && (one.cap.epsilon ?? one.cap)) || Infinity);
    return list.length ? Math.min(...list.map(leftOf), ...caps) : 1;
  }

  budgets() {
    const names = datasetsIn(this.asked.sql, this.state.shown);
    return this.state.budgets.filter((one) => names.includes(one.dataset));
  }

  /** The slider ends at what is left of what the question names. */
  tune() {
    const most = this.most();
    const key = String(most);
    if (this.tuned !== key) {
      this.tuned = key;
      this.prices = ladder(roundDown(Math.min(most, 10)));
      this.range.max = this.prices.length - 1;
      clear(this.ends, h("span", {}, `ε ${leftText(this.prices[0])}: more private`), h("span", {}, `ε ${leftText(this.prices[this.prices.length - 1])}: more exact`));
    }
    this.openNamed();
    this.place();
    this.drawLeft();
  }

  /** The tables of the datasets that are named now are open. */
  openNamed() {
    const names = datasetsIn(this.asked.sql, this.state.shown);
    if (!names.length || this.opened === String(names)) return;
    this.opened = String(names);
    for (const one of this.tree.querySelectorAll("details")) one.open = names.includes(one.dataset.of);
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
    this.wrong = null;
    try {
      const plan = await api.explain(question, this.running.signal);
      if (turn !== this.turn) return;
      this.plan = plan;
      this.planOf = JSON.stringify(question);
      clear(this.problem, plansOf(plan).flatMap((one) => one.warnings || []).map((text) => h("p", { class: "note cost" }, String(text))));
      this.editor.mark(null);
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.turn) return;
      this.plan = null;
      this.tellWrong(error, turn);
    }
    this.bars.classList.remove("stale");
    this.drawErrors();
    this.drawLeft();
    if (this.plan) announce(this.told());
  }

  /** The question cannot be read: said once nobody types any more. */
  tellWrong(error, turn) {
    this.wrong = error;
    const typing = document.activeElement === this.editor.area;
    setTimeout(() => {
      if (turn !== this.turn || this.wrong !== error) return;
      this.editor.mark(placeOf(error.message, this.asked.sql));
      this.showWrong(document.activeElement === this.editor.area);
    }, typing ? Math.max(0, PAUSE - (performance.now() - this.typedAt)) : 0);
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
    if (plan && plan.cost) return epsilonOf(plan.cost);
    return this.asked.mode === "price" && Number(this.asked.epsilon) > 0 ? Number(this.asked.epsilon) : 0;
  }

  // --- error bars ---

  columns(plans = plansOf(this.plan)) {
    const size = Math.max(1, Number(this.asked.size) || 1000);
    return plans.flatMap((one) => columnErrors(one, size));
  }

  told() {
    return `At epsilon ${priceText(this.price())}: ${this.columns().map((one) => `${one.name} ${this.errorWords(one)}`).join("; ")}. Nothing was spent.`;
  }

  errorWords(one) {
    if (one.unknown) return "depends on the data";
    return `${one.about ? "about " : ""}plus or minus ${one.least < one.most ? `${errorText(one.least)} to ` : ""}${errorText(one.most)} ${one.unit || ""}`;
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
    if (one.unknown)
      return h("li", {}, h("div", { class: "line" }, h("code", {}, one.name), h("span", { class: "soft small" }, "with the answer")), h("p", { class: "hint" }, "Its bar depends on the data, so that it comes with the answer."));
    const words = one.least < one.most ? `± ${errorText(one.least)} to ± ${errorText(one.most)}` : `± ${errorText(one.most)}`;
    const notes = [one.unit, one.note].filter(Boolean);
    return h("li", {}, h("div", { class: "line" }, h("code", {}, one.name), h("span", { class: "pm" }, `${one.about ? "about " : ""}${words}`)),
      errorBar(one.most, this.axis(one.name, one.most), one.least), notes.length ? h("p", { class: "hint" }, notes.join("; ")) : null);
  }

  drawErrors() {
    const list = this.columns();
    this.sizeField.hidden = !list.some((one) => one.sized) && this.asked.mode === "price";
    const plans = plansOf(this.plan);
    this.basket.hidden = plans.length < 2;
    if (plans.length > 1) clear(this.bars, plans.map((one, at) => basketItem(one, this.columns([one]).map((column) => this.errorItem(column)), () => this.takeOut(plans, at))));
    else if (list.length) clear(this.bars, list.map((one) => this.errorItem(one)));
    else clear(this.bars, h("li", { class: "hint" }, this.plan ? this.plan.public ? "Public tables only: the answer is exact and free." : "It is computed from recorded answers, for nothing; its bars come with it." : "The error bar of every column appears here as soon as the question can be read."));
    this.groups.textContent = plans.length === 1 ? [list.some((one) => one.open) ? limitText(this.plan.words) : "", groupsText(this.plan)].filter(Boolean).join(" ") : "";
    this.groups.hidden = !this.groups.textContent;
  }

  drawLeft() {
    const plan = this.current();
    const plans = plansOf(plan);
    const many = plans.length > 1;
    const again = this.questions().length > 0 && this.questions().every((one) => this.asked.paid.has(JSON.stringify(one)));
    const price = again ? 0 : this.price();
    const share = (one) => (many && !again ? shareOf(plan, one.dataset) : price);
    clear(this.left, this.budgets().flatMap((one) => meters(one, share(one))));
    if (this.busy) return;
    const costs = plan && plan.cost ? costText(plan.cost) : `ε ${priceText(price)}`;
    const open = plans.length > 0 && (plans.every(isFree) || (many && price === 0));
    const dearest = many ? Math.max(...plans.map((one) => (one.cost ? epsilonOf(one.cost) : 0))) : price;
    const enough = again || open || (dearest <= this.most() * (1 + 1e-9) && this.budgets().every((one) => affords(one, share(one), plan && plan.cost)));
    const asks = many ? `Ask ${plans.length} questions` : "Ask";
    if (again) clear(this.button, icon("again"), "Read again, free");
    else if (!enough) clear(this.button, `Not enough left for ${costs}`);
    else clear(this.button, open ? `${asks}, free` : price > 0 ? `${asks}, spends ${costs}` : asks);
    this.button.classList.toggle("spends", !again && !open);
    this.button.classList.toggle("free", again || open);
    this.button.disabled = !again && (!plan || !enough);
    clear(this.choose, `Buy the choice of limits alone${this.asked.mode === "price" && price > 0 ? `, spends ε ${priceText(price)}` : ""}`);
    this.choose.disabled = !plan || open || many || !enough || this.asked.mode !== "price";
    this.try.disabled = !plan || plans.some(isFree);
  }

  // --- asking ---

  /** What is asked, statement by statement: what explain has read is asked, each as a request of its own. */
  questions() {
    const question = this.question(), plan = this.current();
    return question && plan && plan.statements ? plan.statements.map(({ sql }) => ({ ...question, sql: sql.trim() })) : question ? [question] : [];
  }

  /** The basket without one of its statements. */
  takeOut(plans, at) {
    this.editor.text = plans.filter((_, other) => other !== at).map(({ sql }) => sql.trim()).join(";\n\n");
    this.editor.area.focus();
  }

  /** Ask the statements one after the other; the first that fails ends it, and the answers before it are shown. */
  async run(button, text, call, options, questions = this.questions()) {
    if (!questions.length || this.busy || button.disabled) return;
    this.busy = true;
    this.button.disabled = true;
    this.try.disabled = true;
    this.choose.disabled = true;
    clear(button, h("span", { class: "working", "aria-hidden": "true" }), text);
    announce(text);
    const shown = [];
    let wrong = null;
    for (const [at, question] of questions.entries()) {
      const words = questions.length > 1 ? `${text} ${at + 1} of ${questions.length}` : text;
      try {
        const answer = await this.stop.during((ticket) => call(question, ticket), words);
        shown.push({ answer, options: { ...options, sql: question.sql, question, charges: options.madeUp ? [] : this.charges.get(answer) || [] } });
      } catch (error) {
        wrong = failure(error, questions.length > 1 ? { title: `Question ${at + 1} of ${questions.length} was not answered; those after it were not asked` } : {});
        break;
      }
    }
    if (shown.length) this.showAnswers(shown, !wrong);
    if (wrong) {
      this.failed = true;
      if (!shown.length) clear(this.answer);
      this.answer.append(wrong);
      wrong.scrollIntoView({ block: "nearest" });
    }
    this.busy = false;
    clear(this.try, icon("flask"), "Try on made-up data, free");
    await this.refresh();
    this.tune();
    this.explain(); // what the question has found out, its bars have now
  }

  /** What was paid for in this visit is read again by its charge: that request has no price in it. */
  async askOrRead(question, ticket) {
    const charge = this.asked.paid.get(JSON.stringify(question));
    if (charge === undefined) return this.askAndRemember(question, ticket);
    const answer = await api.recorded(charge);
    this.charges.set(answer, [charge]);
    return answer;
  }

  ask() { return this.run(this.button, "Asking…", (question, ticket) => this.askOrRead(question, ticket), { madeUp: false }); }

  /** The same question at the same price, paid for once more: the data may have changed. */
  askAnew(question) {
    return this.run(this.button, "Asking…", (one, ticket) => this.askAndRemember(one, ticket, true), { madeUp: false }, [question]);
  }

  async askAndRemember(question, ticket, fresh = false) {
    const answer = await api.query(fresh ? { ...question, fresh } : question, ticket);
    try {
      const { events } = await api.history();
      const charges = chargesOf(answer, question.sql, events);
      this.charges.set(answer, charges);
      if (charges.length === 1 && !answer.stages) this.asked.paid.set(JSON.stringify(question), charges[0]);
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

  /** Answers below each other: a list of {answer, options}. */
  showAnswers(list, focus) {
    this.asked.shown = list;
    this.failed = false;
    this.names.open = false;
    this.recent.hidden = true;
    const cards = list.map(({ answer, options }) => answerCard(answer, { ...options, again: options.question && options.madeUp === false ? () => this.askAnew(options.question) : null,
      further: (name) => { this.editor.text = `SELECT *\nFROM ${name}`; this.editor.area.focus(); } }));
    clear(this.answer, cards.map((one) => one.card));
    if (!focus) return;
    const [{ card, heading }] = cards;
    announce(cards.map((one) => one.text).join("; "));
    heading.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  // --- names, and what was asked before ---

  drawTree() {
    const tables = tablesOf(this.state.shown);
    this.opened = "";
    clear(this.tree, tables.map((one) => h("details", { "data-of": one.dataset },
      h("summary", {}, h("code", {}, one.table), one.table === one.dataset ? null : h("span", { class: "soft small" }, ` of ${one.dataset}`), one.public ? h("span", { class: "chip free" }, "public") : null),
      h("ul", {}, one.columns.map((column) => h("li", {}, h("button", { class: "plain", type: "button", onclick: () => this.editor.insert(column.name) }, h("code", {}, column.name), h("small", {}, describe(column)))))))));
    this.openNamed();
  }

  /** The last questions that were answered: into the editor, or read again for nothing. */
  async drawRecent() {
    const list = new Map();
    try {
      for (const event of (await api.history()).events.reverse())
        if (event.sql && event.cost && event.state === "committed" && tokens(event.sql)[0]?.kind === "keyword" && !list.has(event.sql) && list.size < RECENT) list.set(event.sql, event);
    } catch {
      return; // The history says why.
    }
    if (list.size === 0) return;
    clear(this.recent, h("section", { class: "card", "aria-label": "Recent questions" }, h("div", { class: "bar" }, h("h2", {}, "Recent questions"), h("a", { class: "end small", href: "#/history" }, "History")),
      h("ul", {}, [...list.values()].map((event) => h("li", {},
        h("button", { class: "plain sql", type: "button", title: "Into the editor", onclick: () => { this.editor.text = event.sql; this.editor.area.focus(); } }, event.sql.replace(/\s+/g, " ")),
        h("span", { class: "chip cost" }, costText(event.cost)),
        h("button", { class: "slight", type: "button", onclick: () => this.readAgain(event) }, icon("again"), "Read, free"))))));
  }

  async readAgain(event) {
    try {
      this.showAnswers([{ answer: await api.recorded(event.id), options: { title: "Answer, read again", sql: event.sql, charges: [event.id] } }], true);
    } catch (error) {
      this.failed = true;
      clear(this.answer, failure(error, { title: "It cannot be read again" }));
    }
  }

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
    this.typedAt = -PAUSE;
    if (!this.asked.sql) this.editor.text = example(this.state.shown, this.asked.about);
    this.drawTree();
    this.tune();
    this.fitPrice();
    this.explain();
    if (!this.asked.shown) this.drawRecent();
  }
}

/** `rest`: a question that came in the address. It is put into the editor; asking it is another step. */
export async function askView(main, state, [sql] = []) {
  if (sql && sql !== state.asked.sql) {
    state.asked.sql = sql;
    state.asked.shown = null;
  }
  await new AskView(main, state).load();
}
