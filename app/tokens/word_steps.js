// One row of normalisation steps, then one row for each piece with the candidates that failed.

import "./word_steps.css";

export default function ({ parentElement, data }) {
  let root = parentElement.querySelector(".steps");
  if (!root) {
    root = document.createElement("div");
    root.className = "steps";
    parentElement.appendChild(root);
  }
  const rows = [normalization(data)];
  data.pieces.forEach((piece, index) => rows.push(match(data, piece, index)));
  if (data.reason) {
    const reason = document.createElement("p");
    reason.textContent = data.reason;
    rows.push(reason);
  }
  root.replaceChildren(...rows);
}

function row(name) {
  const made = document.createElement("div");
  made.className = "row";
  const label = document.createElement("span");
  label.className = "label";
  label.textContent = name;
  const cells = document.createElement("div");
  made.append(label, cells);
  return [made, cells];
}

function chip(text, kind) {
  const made = document.createElement("span");
  made.className = kind ? `chip ${kind}` : "chip";
  made.dir = "auto";
  made.textContent = text;
  return made;
}

function say(text) {
  const made = document.createElement("em");
  made.textContent = text;
  return made;
}

function normalization(data) {
  const [made, cells] = row("in the text");
  cells.appendChild(chip(data.word));
  if (data.isAdded) {
    cells.appendChild(say("a special token: kept whole"));
    return made;
  }
  for (const [name, after] of data.steps) cells.append(say(`→ ${name} →`), chip(after));
  if (data.steps.length && data.steps.at(-1)[1] !== data.normalized) {
    cells.append(say("→ this word →"), chip(data.normalized));
  }
  if (!data.steps.length) cells.appendChild(say("nothing to clean, fold or split"));
  return made;
}

function match(data, piece, index) {
  const [made, cells] = row(data.pieces.length > 1 ? `piece ${index + 1}` : "look-up");
  for (const tried of piece.tried) cells.appendChild(chip(tried, "failed"));
  if (piece.more) cells.appendChild(say(`and ${piece.more} shorter ones`));
  if (piece.tried.length) cells.appendChild(say("not in the vocabulary →"));
  const found = chip(piece.token, data.reason ? "found unknown" : "found");
  const id = document.createElement("small");
  id.textContent = `id ${piece.id}`;
  found.appendChild(id);
  cells.appendChild(found);
  return made;
}
