// The list of logs: filters it, and sends dropped files to the program that serves it.

const status = document.getElementById("status");

async function send(files) {
  for (const file of files) {
    status.textContent = `Reading ${file.name}…`;
    const address = `upload?name=${encodeURIComponent(file.name)}`;
    const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/x-qlog" }, body: file });
    const text = await answer.text();
    if (!answer.ok) {
      status.textContent = text.trim();
      return;
    }
  }
  location.reload();
}

function fail(error) {
  status.textContent = `The program does not answer: ${error.message}`;
}

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  send(event.dataTransfer.files).catch(fail);
});
document.getElementById("add").addEventListener("change", (event) => send(event.target.files).catch(fail));
document.getElementById("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll("#files tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
