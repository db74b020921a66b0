// Statistics that are not SQL: each is one release with one price.
import { announce, clear, debounce, field, h, icon, select } from "./dom.js";
import { api } from "./api.js";
import { answerCard } from "./answer.js";
import { affords, firstPrice, leftOf } from "./budget.js";
import { costText, count, errorText, leftText, priceText, valueText } from "./format.js";
import { failure } from "./failure.js";
import { columnErrors } from "./preview.js";
import { fromOf, isBounded, spelled, tablesOf } from "./sql.js";
import { stopButton } from "./stop.js";

// What each takes in addition to the price: column, columns, q, k, target, delta.
const KINDS = {
  median: ["column"], quantile: ["column", "q"], iqr: ["column"], mean: ["column"], variance: ["column"], sum: ["column"], count: [],
  mode: ["column", "delta"], histogram: ["column", "delta"], "top-k": ["column", "k", "delta"], covariance: ["columns"], regression: ["columns", "target"],
};
// The same in SQL: how a table of a policy is asked, and from which explain knows the error. Null: SQL has no word for it.
const IN_SQL = {
  median: (x) => `MEDIAN(${x})`, quantile: (x, { q }) => `PERCENTILE_CONT(${q}) WITHIN GROUP (ORDER BY ${x})`,
  iqr: (x) => `PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY ${x}) - PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ${x})`,
  mean: (x) => `AVG(${x})`, variance: (x) => `VARIANCE(${x})`, sum: (x) => `SUM(${x})`, count: () => "COUNT(*)",
  mode: (x) => `MODE() WITHIN GROUP (ORDER BY ${x})`, histogram: () => "COUNT(*)", "top-k": () => "COUNT(*)", covariance: null, regression: null,
};
const NUMBERS = ["median", "quantile", "iqr", "mean", "variance", "sum"]; // of columns that have bounds
const TYPICAL = 1000; // people, for the error of a mean

function text(value) {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : valueText(value);
}

/** What was released: a number with its bar, or a table. */
function released(answer) {
  const left = answer.remaining ? h("span", { class: "soft small" }, `left: ${typeof answer.remaining.rho === "number" ? `ρ ${leftText(answer.remaining.rho)}` : `ε ${leftText(answer.remaining.epsilon)}`}`) : null;
  const chip = answer.cached ? h("span", { class: "chip free" }, "read again, free") : h("span", { class: "chip cost" }, `cost ${costText(answer.cost)}`);
  const heading = h("h2", { tabindex: "-1" }, `Released: ${answer.statistic}`);
  const body = answer.released === false ? h("p", { class: "note" }, "The test of the method did not pass: nothing is shown, and the price is spent.")
    : answer.rows ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Released values" }, h("table", {}, h("tbody", {}, answer.rows.map((row) => h("tr", {}, row.map((value) => h("td", { class: typeof value === "number" ? "number" : "" }, text(value))))))))
      : h("div", { class: "one" }, h("div", {}, h("code", { class: "soft" }, answer.statistic), h("b", {}, text(answer.value)),
        typeof answer.error_95 === "number" ? h("span", { class: "soft number" }, `± ${errorText(answer.error_95)}`) : null));
  return { heading, card: h("section", { class: "card answer", "aria-label": "Release" }, h("div", { class: "bar" }, heading, chip, left), h("div", { class: "inside" }, body, h("p", { class: "soft small" }, `by the method ${answer.method}, ${answer.adjacency}${answer.rows_per_unit ? "; of each person one row counts, chosen at random" : ""}`))) };
}

/** What can be asked: {name, dataset, table, columns, unit, sql: it is a table of a policy}. */
function sourcesOf(shown) {
  return shown.filter((one) => !one.public).flatMap((one) => tablesOf([one]).filter((table) => !table.public).map((table) => ({
    ...table, name: one.tables ? `${table.dataset}.${table.table}` : table.dataset, sql: Boolean(one.tables), unit: one.unit || (one.tables || []).find((other) => other.unit)?.unit })));
}

class StatisticsView {
  constructor(main, state) {
    this.state = state;
    this.sources = sourcesOf(state.shown);
    this.names = [...new Set(this.sources.map((one) => one.dataset))];
    this.typed = { source: this.sources[0]?.name, kind: "", column: "", columns: "", q: "0.9", k: "5", target: "", delta: "", epsilon: this.firstPrice(this.names[0]) };
    this.turn = 0;
    this.explainSoon = debounce(220, () => this.explain());
    this.error = h("p", { class: "note quiet", role: "status" });
    this.fields = h("div", { class: "fields" });
    this.result = h("div", { id: "released" });
    this.stop = stopButton();
    this.send = h("button", { class: "main spends", type: "submit" });
    clear(main, h("div", { class: "view" },
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Statistics"), h("p", {}, "One number or a small table, chosen without SQL, each at a price of its own. The same at the same price is read again for free."))),
      this.names.length ? h("section", { class: "card", "aria-label": "Statistic" }, h("form", { class: "inside", onsubmit: (event) => { event.preventDefault(); this.release(); } },
        this.fields, this.error, h("div", { class: "do" }, this.send))) : h("p", { class: "card empty" }, "There is no dataset to ask."),
      this.result), this.stop.element);
    this.draw();
  }

  input(object, key, attributes = {}) {
    return h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes, value: object[key], oninput: (event) => { object[key] = event.target.value.trim(); this.changed(); } });
  }

  /** The old error goes, and that of the new question comes. */
  changed() {
    if (this.failed) clear(this.failed);
    this.failed = null;
    this.drawButtons();
    this.explainSoon();
  }

  firstPrice(name) {
    return firstPrice(Math.min(0.5, ...this.state.budgets.filter((one) => one.dataset === name).map(leftOf)));
  }

  source() { return this.sources.find((one) => one.name === this.typed.source); }

  /** The columns that the statistic is made for, never whose row it is. */
  columns() {
    const { columns, unit } = this.source();
    return columns.filter((one) => one.name !== unit && (!NUMBERS.includes(this.typed.kind) || isBounded(one)));
  }

  /** What is typed, as SQL; null where there is none. */
  sql() {
    const { kind, column, k } = this.typed;
    const make = IN_SQL[kind];
    if (!make || (KINDS[kind].includes("column") && !column)) return null;
    const x = spelled(column), keyed = kind === "histogram" || kind === "top-k";
    const name = `${kind === "top-k" || kind === "histogram" ? "n" : kind}`;
    return `SELECT ${keyed ? `${x}, ` : ""}${make(x, this.typed)} AS ${spelled(name)} FROM ${fromOf(this.source())}${keyed ? ` GROUP BY ${x}` : ""}${kind === "top-k" ? ` ORDER BY n DESC LIMIT ${k}` : ""}`;
  }

  /** Why it cannot be sent as it is; "": it can. */
  missing() {
    const { kind, column, columns, epsilon } = this.typed;
    if (!kind) return "Choose a statistic.";
    const needs = KINDS[kind];
    if (this.source().sql && !IN_SQL[kind]) return "This is not to be had of a table of a policy file: register the table alone, or ask in SQL.";
    if (needs.includes("column") && !this.columns().length) return "No column of this table has bounds: its owner declares them.";
    if (needs.includes("column") && !column) return "Choose a column.";
    if (needs.includes("columns") && !columns) return "Name the columns.";
    if (!(Number(epsilon) > 0)) return "Set a price.";
    return "";
  }

  affordable() {
    const { dataset } = this.source();
    return this.state.budgets.filter((one) => one.dataset === dataset).every((one) => affords(one, Number(this.typed.epsilon)));
  }

  say(text) {
    clear(this.error, text);
    this.error.hidden = !text;
  }

  /** The error that it will have, which explain knows of the same question in SQL; of one row each, as 'release' counts. */
  async explain() {
    this.turn += 1;
    const { turn } = this, { kind, column, epsilon, delta } = this.typed, sql = this.sql(), wanting = this.missing();
    if (wanting || !sql) {
      this.say(wanting || "How far off it may be depends on the data.");
      return;
    }
    const question = { sql, epsilon, ...(delta ? { delta } : {}) };
    const bounds = this.source().columns.find((one) => one.name === column);
    if (!this.source().sql) question.limit = kind === "sum" ? String(Math.max(Math.abs(bounds.low), Math.abs(bounds.high))) : "1";
    try {
      const plan = await api.explain(question);
      if (turn !== this.turn) return;
      const bar = columnErrors(plan, TYPICAL).pop();
      const text = !bar || bar.unknown ? "How far off it may be depends on the data." : `${bar.about || kind === "mean" ? "About " : ""}± ${errorText(bar.least)}${bar.least < bar.most ? ` to ± ${errorText(bar.most)}, or more where one person has over 100 rows` : ""}${bar.unit ? ` ${bar.unit}` : ""}, 95 times of 100${kind === "mean" ? `, of ${count(TYPICAL, "value")}` : ""}${KINDS[kind].includes("k") || kind === "histogram" ? ", for each key" : ""}. Nothing is spent by looking.`;
      this.say(text);
      announce(text);
    } catch (error) {
      if (turn === this.turn) this.say(error.message);
    }
  }

  draw() {
    const typed = this.typed;
    const kind = select([["", "choose …"], ...Object.keys(KINDS).map((word) => [word, word])], typed.kind, () => { typed.kind = kind.value; this.draw(); kind.focus(); });
    const source = select(this.sources.map(({ name }) => [name, name]), typed.source, () => { typed.source = source.value; this.draw(); source.focus(); });
    if (Number(typed.epsilon) > 0 && !this.affordable()) typed.epsilon = this.firstPrice(this.source().dataset);
    const parts = {
      column: () => {
        const names = this.columns().map((one) => one.name);
        if (!names.includes(typed.column)) typed.column = names.length === 1 ? names[0] : "";
        const box = select([["", "choose …"], ...names.map((name) => [name, name])], typed.column, () => { typed.column = box.value; this.changed(); });
        return field("Column of it", box);
      },
      columns: () => field("Columns, with commas", this.input(typed, "columns")),
      q: () => field("Which quantile", this.input(typed, "q", { inputmode: "decimal" }), "From 0 to 1."),
      k: () => field("How many keys", this.input(typed, "k", { inputmode: "numeric" })),
      target: () => field("Column that is predicted", this.input(typed, "target")),
      delta: () => field("δ of it", this.input(typed, "delta", { inputmode: "decimal", placeholder: "1e-6" }), "For keys that are private; none where the column has a domain."),
    };
    clear(this.fields, field("Statistic", kind), field("Of which table", source), (KINDS[typed.kind] || []).map((part) => parts[part]()), field("Price ε", this.input(typed, "epsilon", { inputmode: "decimal" })));
    this.changed();
  }

  drawButtons() {
    const price = Number(this.typed.epsilon);
    if (!this.busy && this.source()) {
      const enough = this.affordable();
      clear(this.send, !(price > 0) ? "Release" : enough ? `Release, spends ε ${priceText(price)}` : `Not enough left for ε ${priceText(price)}`);
      this.send.disabled = Boolean(this.missing()) || !enough;
    }
  }

  /** Run one call that spends, with its button taken and the stop button shown. */
  async run(stop, text, call, place, show) {
    if (this.busy) return;
    this.busy = true;
    this.send.disabled = true;
    try {
      show(await stop.during(call, text));
    } catch (error) {
      clear(place, failure(error));
      this.failed = place;
    }
    this.busy = false;
    try {
      this.state.budgets = await api.budgets();
    } catch {
      // The server says itself what is not enough.
    }
    this.drawButtons();
    this.explainSoon();
  }

  release() {
    const { kind, epsilon, delta } = this.typed, source = this.source();
    if (source.sql) {
      const sql = this.sql();
      return this.run(this.stop, "Asking…", (ticket) => api.query({ sql, epsilon, ...(delta ? { delta } : {}) }, ticket), this.result, (answer) => {
        const { card, heading, text: told } = answerCard(answer, { title: "Released", sql });
        clear(this.result, card);
        heading.focus({ preventScroll: true });
        announce(told);
      });
    }
    const question = { statistic: kind, source: source.dataset, epsilon };
    for (const part of KINDS[kind]) if (this.typed[part]) question[part] = this.typed[part];
    announce("Asking…");
    return this.run(this.stop, "Asking…", (ticket) => api.release(question, ticket), this.result, (answer) => {
      const { card, heading } = released(answer);
      clear(this.result, card);
      heading.focus({ preventScroll: true });
      announce(`Released, ${answer.cached ? "free" : `cost ${costText(answer.cost)}`}`);
    });
  }
}

export async function statisticsView(main, state) {
  clear(main, h("div", { class: "view", "aria-busy": "true" }, h("h1", {}, "Statistics")));
  try {
    await state.loadPolicies();
    state.budgets = await api.budgets();
  } catch (error) {
    clear(main, failure(error));
    return;
  }
  new StatisticsView(main, state);
}
