// How well a text fits that which is typed. It touches no page.

const starts = (text, at) => at === 0 || /[\s._·/-]/.test(text[at - 1]);

// fits returns how well one word fits a text, -1 if it doesn't: its letters stand in the text in their order, and those
// that follow each other or begin a word count for more.
function fits(word, text) {
  const whole = text.indexOf(word);
  if (whole >= 0) return 4 * word.length + (starts(text, whole) ? 4 : 0) + (whole === 0 ? 2 : 0);
  let row = []; // by each place in the text, the best score with the letters so far, of which the last stands there
  for (const [n, letter] of [...word].entries()) {
    let before = n === 0 ? 0 : -1; // the best that ended before the place
    row = [...text].map((other, at, all) => {
      const beside = at > 0 && n > 0 && row[at - 1] >= 0 ? row[at - 1] + 2 : -1;
      if (n > 0 && at > 0) before = Math.max(before, row[at - 1]);
      const best = Math.max(before, beside);
      return other !== letter || best < 0 ? -1 : best + (starts(all, at) ? 2 : 0);
    });
  }
  return Math.max(...row);
}

// ranked returns those of the commands that every typed word fits, the best first and otherwise in their order.
export function ranked(commands, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = [];
  for (const command of commands) {
    const text = `${command.text} ${command.kind}`.toLowerCase();
    const scores = words.map((word) => fits(word, text));
    if (scores.every((score) => score >= 0)) scored.push({ command, score: scores.reduce((sum, score) => sum + score, 0) });
  }
  return scored.sort((a, b) => b.score - a.score).map(({ command }) => command);
}

// secret reports whether a text holds that which looks like a whole API key. It is gone nowhere with.
export const secret = (text) => /[a-z0-9]_(live|test|operator)_[0-9A-Za-z]{24}/.test(text);

// identifies reports whether a text is the id of something: it is gone to as it is.
export const identifies = (text) => /^(task|req|key|acct|whe)_[0-9a-zA-Z]{26}$/.test(text);
