// A lesson as lessons.py writes it, and what a learner's answer is told: bertcore/lessons/lesson.py.

import type { Found, Given } from "./answers";
import { filled, written, type Fact, type Said } from "./wording";

export interface Choice {
  text: string;
  why: string;
  /** The answer that makes it right. */
  name: string;
  /** What is read first by whoever picks it wrongly, where the network decides. */
  wrong: string;
}

export interface Step {
  title: string;
  text: string;
  question: string;
  /** A function of answers.ts; null where the choices decide. */
  answer: string | null;
  given: Given;
  choices: Choice[];
  /** How far a number may be off. */
  within: { amount: number; is_relative: boolean };
  /** Explanations of mistakes, by the fact that equals the learner's answer. */
  because: Record<string, string>;
  right: string;
  wrong: string;
  /** The text that the step brings; null for the learner's. */
  text_a: string | null;
  text_b: string | null;
  /** Name of the page and what is chosen there, with places for facts. */
  page: string;
  chosen: Record<string, string>;
  /** Title of the app's page that has the picture, where this one has not; else "". */
  elsewhere: string;
}

export interface Lesson {
  name: string;
  title: string;
  summary: string;
  minutes: number;
  text_a: string;
  text_b: string;
  steps: Step[];
}

/** The words and the lessons of a language. */
export interface Language {
  code: string;
  guide: Record<string, string>;
  found: Record<string, string>;
  lessons: Lesson[];
}

export interface Verdict {
  isRight: boolean;
  yours: string;
  models: string;
  why: string;
  /** Of `why`. */
  facts: Record<string, Fact>;
}

/** What the network found, in the words of a language. */
export function said(text: Said, { found }: Language): string {
  return typeof text === "string" ? text : filled(found[text[0]], text[1]);
}

/** What a learner picks from: name and text; empty for a number. */
export function optionsOf(step: Step, found: Found, language: Language): { name: string; text: string }[] {
  if (step.choices.length) return step.choices.map(({ text }) => ({ name: text, text }));
  return found.options.map(({ name, text }) => ({ name, text: said(text, language) }));
}

/** What a learner's answer is told: a number, or the name of an option. */
export function judge(step: Step, found: Found, chosen: Fact, language: Language): Verdict {
  const [why, facts, isRight] = step.choices.length ? judgeChoice(step, found, String(chosen))
    : typeof chosen === "number" ? judgeNumber(step, found, chosen) : judgeOption(step, found, chosen, language);
  return { isRight, yours: written(facts.chosen), models: written(facts.answer), why, facts };
}

type Judged = [why: string, facts: Record<string, Fact>, isRight: boolean];

function judgeOption(step: Step, found: Found, chosen: string, language: Language): Judged {
  const isRight = chosen === String(found.answer) || found.also.includes(chosen);
  const [mine, best] = [chosen, isRight ? chosen : String(found.answer)].map((name) => {
    const { text, value } = found.options.find((option) => option.name === name) ?? { text: name, value: "" };
    return { text: said(text, language), value: said(value, language) };
  });
  const mistaken = isRight ? [] : Object.entries(step.because).filter(([fact]) => String(found.facts[fact]) === chosen);
  const why = mistaken.length ? mistaken[mistaken.length - 1][1] : isRight ? step.right : step.wrong;
  return [why, { ...found.facts, chosen: mine.text, chosen_value: mine.value, answer: best.text, answer_value: best.value }, isRight];
}

function judgeNumber({ because, within, right: praise, wrong }: Step, found: Found, chosen: number): Judged {
  const right = Number(found.answer);
  const accepts = (number: number) => Math.abs(chosen - number) <= (within.is_relative ? within.amount * Math.abs(number) : within.amount) + 1e-9;
  const isRight = accepts(right);
  // A mistake is that number, as it is written; what is near it nobody made.
  const typed = written(chosen);
  const mistaken = isRight ? undefined : Object.entries(because).find(([fact]) => written(Number(found.facts[fact])) === typed);
  const facts = { ...found.facts, chosen, chosen_value: chosen, answer: right, answer_value: right };
  return [mistaken?.[1] ?? (isRight ? praise : wrong), facts, isRight];
}

function judgeChoice({ choices, answer }: Step, found: Found, chosen: string): Judged {
  const mine = choices.find(({ text }) => text === chosen) ?? choices[0];
  const best = choices.find(({ name }) => name === (answer === null ? "right" : String(found.answer))) ?? choices[0];
  const isRight = mine === best;
  // The network may answer anything: what is true of another answer must not be read.
  const why = isRight || answer === null ? mine.why : `${mine.wrong} ${best.why}`.trim();
  return [why, { ...found.facts, chosen: mine.text, answer: best.text, chosen_value: "", answer_value: "" }, isRight];
}
