// Controls that several views have.

import { element } from "../../browser/elements";
import { range, said } from "../../browser/text";

export function button(textContent: string, title: string, onclick: () => void, className = ""): HTMLButtonElement {
  return element("button", { type: "button", textContent: said(textContent), title: said(title), ariaLabel: said(title), onclick, className });
}

// `options`: value and text of each.
export function select<Value extends string>(
  ariaLabel: string, options: readonly (readonly [Value, string])[], chosen: (value: Value) => void,
): HTMLSelectElement {
  const dropdown = element("select", { ariaLabel: said(ariaLabel) }, ...options.map(([value, text]) => element("option", { value, textContent: said(text) })));
  dropdown.onchange = () => chosen(dropdown.value as Value);
  return dropdown;
}

// A choice between numbers, which `offerNumbers` fills.
export function numberSelect(ariaLabel: string, chosen: (value: number) => void): HTMLSelectElement {
  return select(ariaLabel, [], (value) => chosen(Number(value)));
}

// Offers 0, 1, ... count - 1.
export function offerNumbers(dropdown: HTMLSelectElement, count: number): void {
  if (dropdown.length === count) return;
  dropdown.replaceChildren(...range(count).map((k) => element("option", { value: k, textContent: k })));
}

export interface Checkbox {
  root: HTMLLabelElement;
  input: HTMLInputElement;
}

export function checkbox(text: string, title: string, changed: (isOn: boolean) => void): Checkbox {
  const input = element("input", { type: "checkbox" });
  input.onchange = () => changed(input.checked);
  return { root: element("label", { title: said(title) }, input, said(text)), input };
}

export function wordsCheckbox(changed: (isOn: boolean) => void): Checkbox {
  return checkbox("Whole words", "Sum over the pieces of an attended word, mean over the pieces of an attending one", changed);
}

// Controls that few need, closed at first.
export function further(...controls: HTMLElement[]): HTMLElement {
  return element("details", { className: "further" }, element("summary", { textContent: said("More") }),
    element("div", { className: "controls" }, ...controls));
}

// A set with an entry more, or with one that was in it less.
export function toggled<Entry>(set: Set<Entry>, entry: Entry): Set<Entry> {
  const copy = new Set(set);
  if (!copy.delete(entry)) copy.add(entry);
  return copy;
}

type Disabling = HTMLElement & { disabled: boolean };

// An HTML file holds some layers only (`header.alone`): disables the controls that need others.
export function disableInFile(controls: Disabling[], header: { alone?: number[] }, what: string): void {
  if (!header.alone) return;
  for (const control of controls) Object.assign(control, { disabled: true, title: `This file holds ${what} only` });
}
