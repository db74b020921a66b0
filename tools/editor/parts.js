// The parts of CodeMirror 6 that the page's editor uses.
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { bracketMatching } from "@codemirror/language";
export { EditorState, StateEffect } from "@codemirror/state";
export { Decoration, EditorView, keymap, placeholder, ViewPlugin } from "@codemirror/view";
