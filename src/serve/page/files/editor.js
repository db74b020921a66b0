// A text area for SQL: colours lie under a transparent text, completion opens below the caret.
import { announce, clear, fresh, h } from "./dom.js";
import { completions, tablesOf, tokens } from "./sql.js";

const OPEN = { "(": ")", "'": "'" };

export class Editor {
  /** `changed(text)` at each change; `submit()` at Ctrl or Command and Enter. */
  constructor({ text, label, changed, submit }) {
    this.shown = [];
    this.known = new Set();
    this.changed = changed;
    this.submit = submit;
    this.list = [];
    this.chosen = 0;
    this.wrong = null;
    this.listName = fresh("choices");
    this.area = h("textarea", { "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off",
      "aria-autocomplete": "list", "aria-controls": this.listName, rows: 4, placeholder: "SELECT … FROM … GROUP BY …" });
    this.area.value = text;
    this.under = h("pre", { "aria-hidden": "true" });
    this.popup = h("div", { class: "choices", role: "listbox", id: this.listName, "aria-label": "Completions", hidden: true });
    this.element = h("div", { class: "editor" }, this.under, this.area, this.popup);
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.area.addEventListener("click", () => this.close());
    this.paint();
  }

  get text() { return this.area.value; }

  set text(value) {
    this.area.value = value;
    this.wrong = null;
    this.close();
    this.paint();
    this.changed(value);
  }

  /** The policies, for names. */
  learn(shown) {
    this.shown = shown;
    this.known = new Set(tablesOf(shown).flatMap((one) => [one.dataset, one.table, ...one.columns.map((column) => column.name)])
      .map((name) => name.toLowerCase()));
    this.paint();
  }

  /** Underline the token at this position (from 0), or none. */
  mark(position) {
    this.wrong = position;
    this.paint();
  }

  insert(text, back = 0) {
    const { selectionStart: start, selectionEnd: end } = this.area;
    this.area.focus();
    this.area.setRangeText(text, start, end, "end");
    const caret = this.area.selectionStart - back;
    this.area.setSelectionRange(caret, caret);
    this.wrong = null;
    this.paint();
    this.changed(this.text);
  }

  paint() {
    const at = this.area.selectionStart;
    const parts = [];
    this.caret = h("span");
    let placed = false;
    for (const token of tokens(this.text)) {
      let kind = token.kind;
      if ((kind === "word" || kind === "quoted") && this.known.has(token.text.replaceAll('"', "").toLowerCase())) kind = "name";
      const wrong = this.wrong !== null && token.at <= this.wrong && this.wrong < token.at + token.text.length && kind !== "space";
      if (!placed && at <= token.at + token.text.length) {
        const cut = at - token.at;
        const left = token.text.slice(0, cut);
        const right = token.text.slice(cut);
        const style = `${kind}${wrong ? " wrong" : ""}`;
        parts.push(h("span", { class: style }, left), this.caret, h("span", { class: style }, right));
        placed = true;
      } else {
        parts.push(h("span", { class: `${kind}${wrong ? " wrong" : ""}` }, token.text));
      }
    }
    if (!placed) parts.push(this.caret);
    clear(this.under, parts, "\n");
    this.area.style.height = "auto";
    this.area.style.height = `${Math.max(this.area.scrollHeight, this.under.scrollHeight)}px`;
  }

  typed() {
    this.wrong = null;
    this.paint();
    this.offer();
    this.changed(this.text);
  }

  offer() {
    const { from, list } = completions(this.text, this.area.selectionStart, this.shown);
    this.list = list;
    this.from = from;
    this.chosen = 0;
    if (!list.length) {
      this.close();
      return;
    }
    const place = this.caret.getBoundingClientRect();
    const frame = this.element.getBoundingClientRect();
    this.popup.style.left = `${Math.max(8, Math.min(place.left - frame.left - 12, frame.width - 240))}px`;
    this.popup.style.top = `${place.bottom - frame.top + 6}px`;
    this.popup.hidden = false;
    this.show();
    announce(`${list.length} completions, ${list[0].text}`);
  }

  show() {
    clear(this.popup, this.list.map((one, number) => h("div", {
      role: "option", id: `${this.listName}-${number}`, "aria-selected": number === this.chosen ? "true" : "false",
      onmousedown: (event) => { event.preventDefault(); this.chosen = number; this.accept(); },
    }, h("span", {}, one.text), one.note ? h("small", {}, one.note) : null)));
    this.area.setAttribute("aria-activedescendant", `${this.listName}-${this.chosen}`);
    this.popup.children[this.chosen].scrollIntoView({ block: "nearest" });
  }

  close() {
    this.popup.hidden = true;
    this.list = [];
    this.area.removeAttribute("aria-activedescendant");
  }

  accept() {
    const one = this.list[this.chosen];
    this.close();
    this.area.setSelectionRange(this.from, this.area.selectionStart);
    this.insert(one.text, one.back);
  }

  pressed(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.close();
      this.submit();
    } else if (this.list.length && this.choose(event.key)) {
      event.preventDefault();
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.offer();
    } else if (event.key === ")" && this.text[this.area.selectionStart] === ")") {
      event.preventDefault();
      this.area.setSelectionRange(this.area.selectionStart + 1, this.area.selectionStart + 1);
    } else if (event.key in OPEN && this.area.selectionStart !== this.area.selectionEnd) {
      event.preventDefault();
      const inside = this.text.slice(this.area.selectionStart, this.area.selectionEnd);
      this.insert(event.key + inside + OPEN[event.key]);
    }
  }

  /** A key while the list is open; whether it was for the list. */
  choose(key) {
    if (key === "ArrowDown" || key === "ArrowUp") {
      this.chosen = (this.chosen + (key === "ArrowDown" ? 1 : this.list.length - 1)) % this.list.length;
      this.show();
      announce(this.list[this.chosen].text);
    } else if (key === "Enter" || key === "Tab") {
      this.accept();
    } else if (key === "Escape") {
      this.close();
    } else {
      return false;
    }
    return true;
  }
}
