// Sliders beside numbers that have both bounds. The field beside has the exact value, and is what is sent.

export function startSliders(form) {
  const sliders = [...form.querySelectorAll("[data-slider]")];
  for (const slider of sliders) {
    slider.hidden = false;
    slider.addEventListener("input", () => { field(slider).value = slider.value; });
  }
  const follow = () => sliders.forEach(show);
  form.addEventListener("input", follow);
  form.addEventListener("change", follow);
  follow();
}

const field = (slider) => slider.parentElement.querySelector("[name]");

// show sets a slider to its field: to the default, or the least, without a number there.
function show(slider) {
  const { value, placeholder } = field(slider);
  const number = value.trim() === "" ? placeholder : value;
  const given = value.trim() !== "" && Number.isFinite(Number(value));
  slider.value = Number.isFinite(Number(number)) && number !== "" ? number : slider.min;
  slider.classList.toggle("unset", !given);
  slider.setAttribute("aria-valuetext", given ? value : `not set${placeholder ? `, default ${placeholder}` : ""}`);
}
