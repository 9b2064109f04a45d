// One row of normalisation steps, then one row for each piece with the candidates that failed.

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
  made.appendChild(label);
  return made;
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
  const made = row("in the text");
  made.appendChild(chip(data.word));
  if (data.isAdded) {
    made.appendChild(say("a special token: kept whole"));
    return made;
  }
  for (const [name, after] of data.steps) made.append(say(`→ ${name} →`), chip(after));
  if (data.steps.length && data.steps.at(-1)[1] !== data.normalized) {
    made.append(say("→ this word →"), chip(data.normalized));
  }
  if (!data.steps.length) made.appendChild(say("nothing to clean, fold or split"));
  return made;
}

function match(data, piece, index) {
  const made = row(data.pieces.length > 1 ? `piece ${index + 1}` : "look-up");
  for (const tried of piece.tried) made.appendChild(chip(tried, "failed"));
  if (piece.more) made.appendChild(say(`and ${piece.more} shorter ones`));
  if (piece.tried.length) made.appendChild(say(piece.more || piece.tried.length > 1 ? "are not in the vocabulary →" : "is not in the vocabulary →"));
  const found = chip(piece.token, data.reason ? "found unknown" : "found");
  const id = document.createElement("small");
  id.textContent = `id ${piece.id}`;
  found.appendChild(id);
  made.appendChild(found);
  return made;
}
