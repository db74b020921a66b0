// The editor of a question: CodeMirror 6 with the words, the colours and the completions of sql.js.
import { acceptCompletion, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, Decoration,
  defaultKeymap, EditorState, EditorView, history, historyKeymap, keymap, placeholder, StateEffect, ViewPlugin } from "./codemirror.js";
import { h } from "./dom.js";
import { completions, tablesOf, tokens } from "./sql.js";

const repaint = StateEffect.define();
const LANGUAGE = { commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "'", '"'] } };
const ATTRIBUTES = { spellcheck: "false", autocapitalize: "off", autocorrect: "off", autocomplete: "off", translate: "no" };

/** A key over a selection. Left to the browser, Chromium writes the style of what was selected as an attribute, which the
 * security policy blocks and the console reports. */
function replaceSelected(event, view) {
  const { from, to } = view.state.selection.main, text = event.data;
  if (event.inputType !== "insertText" || event.isComposing || from === to || !text) return false;
  const replaced = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, replaced))) view.dispatch(replaced());
  return true;
}

export class Editor {
  /** `changed(text)` at each change; `submit()` at Ctrl or Command and Enter. */
  constructor({ text, label, changed, submit }) {
    this.shown = [];
    this.known = new Set();
    this.wrong = null;
    const asks = () => {
      closeCompletion(this.view);
      submit();
      return true;
    };
    this.view = new EditorView({ doc: text, extensions: [
      history(), EditorView.lineWrapping, bracketMatching({ afterCursor: false }), closeBrackets(), placeholder("SELECT … FROM … GROUP BY …"),
      EditorState.languageData.of(() => [LANGUAGE]), autocompletion({ override: [(context) => this.offered(context)], icons: false }),
      keymap.of([{ key: "Mod-Enter", run: asks }, { key: "Tab", run: acceptCompletion }, ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({ ...ATTRIBUTES, "aria-label": label }), this.colours(),
      EditorView.domEventHandlers({ beforeinput: replaceSelected }),
      EditorView.updateListener.of(({ docChanged }) => {
        if (docChanged) changed(this.text);
      })] });
    this.area = this.view.contentDOM;
    this.element = h("div", { class: "editor" }, this.view.dom);
  }

  get text() { return this.view.state.doc.toString(); }

  /** Another text; undoing brings back the one before. */
  set text(value) {
    closeCompletion(this.view);
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: value }, selection: { anchor: value.length } });
  }

  /** The policies, for names. */
  learn(shown) {
    this.shown = shown;
    this.known = new Set(tablesOf(shown).flatMap((one) => [one.dataset, one.table, ...one.columns.map((column) => column.name)])
      .map((name) => name.toLowerCase()));
    this.view.dispatch({ effects: repaint.of(null) });
  }

  /** Underline the token at this position (from 0), or none. */
  mark(position) {
    this.wrong = position;
    this.view.dispatch({ effects: repaint.of(null) });
  }

  insert(text) {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  // --- what CodeMirror asks for ---

  /** What stands in which colour. */
  colours() {
    const all = (view) => Decoration.set(tokens(view.state.doc.toString()).filter(({ kind }) => kind !== "space").map((token) =>
      Decoration.mark({ class: this.styleOf(token) }).range(token.at, token.at + token.text.length)));
    const editor = this;
    return ViewPlugin.define((view) => ({
      drawn: all(view),
      update({ docChanged, transactions, view: now }) {
        if (docChanged) editor.wrong = null; // another text has another fault
        if (docChanged || transactions.some((one) => one.effects.some((effect) => effect.is(repaint)))) this.drawn = all(now);
      },
    }), { decorations: (plugin) => plugin.drawn });
  }

  styleOf({ kind, text, at }) {
    const named = kind !== "string" && this.known.has(text.replaceAll('"', "").toLowerCase());
    return `${named ? "name" : kind}${this.wrong !== null && at <= this.wrong && this.wrong < at + text.length ? " wrong" : ""}`;
  }

  offered(context) {
    const { from, list } = completions(context.state.doc.toString(), context.pos, this.shown);
    return list.length === 0 ? null : { from, filter: false, options: list.map(({ text, note, back }) => ({ label: text, detail: note, apply: (view, _, start, end) =>
      view.dispatch({ changes: { from: start, to: end, insert: text }, selection: { anchor: start + text.length - back }, userEvent: "input.complete" }) })) };
  }
}
