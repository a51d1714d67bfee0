// Narrows the page to the experiments of a paper and to claims with a verdict.
{
  const form = document.getElementById("filters");
  const cards = [...document.querySelectorAll("section.card")];
  const narrow = () => {
    const { paper, verdict } = form.elements;
    const wanted = (each, verdicts) =>
      (!paper.value || each.dataset.paper === paper.value) && (!verdict.value || verdicts.includes(verdict.value));
    for (const card of cards) card.hidden = !wanted(card, card.dataset.verdicts.split(" "));
    for (const row of document.querySelectorAll("table.claims tbody tr")) row.hidden = !wanted(row, [row.dataset.verdict]);
    const left = cards.filter((card) => !card.hidden).length;
    form.querySelector("output").textContent = left < cards.length ? `${left} of ${cards.length} experiments` : "";
  };
  form.addEventListener("change", narrow);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = cards.length < 2;
  narrow(); // a browser that reloads keeps what was chosen
}
