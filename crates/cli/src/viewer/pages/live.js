"use strict";
// Shows the events of a run that is measuring. Texts are set as text, never as markup.
const place = (id) => document.getElementById(id);
const name = location.pathname.split("/").pop();
const source = new EventSource("../events/" + name);

function show(event) {
  const told = JSON.parse(event.data);
  for (const id of ["samples", "failures", "round", "last"]) {
    place(id).textContent = told[id] ?? "–";
  }
  place("seconds").textContent = told.seconds.toFixed(1);
  place("done").textContent = `${told.done} of ${told.configurations}`;
  place("bar").value = told.configurations > 0 ? told.done / told.configurations : 0;
  return told;
}

source.addEventListener("progress", (event) => {
  show(event);
  place("state").textContent = "Measuring";
});
source.addEventListener("end", (event) => {
  const told = show(event);
  source.close();
  place("state").textContent = told.complete ? "Complete" : "Interrupted: weigh run --resume goes on with it";
});
source.addEventListener("damaged", (event) => {
  source.close();
  place("state").textContent = JSON.parse(event.data);
});
source.addEventListener("error", () => {
  if (source.readyState !== EventSource.CLOSED) {
    place("state").textContent = "Connecting again";
  }
});
