document.addEventListener('DOMContentLoaded', () => fetch('/data.json'));
