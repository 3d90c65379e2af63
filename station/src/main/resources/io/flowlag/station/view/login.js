"use strict";
// The answer brings a cookie that scripts cannot read; the token itself is kept nowhere.
document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = document.getElementById("said");
  const token = document.getElementById("token").value.trim();
  said.textContent = "";
  try {
    const answer = await fetch("/login", {headers: {Authorization: "Bearer " + token}});
    if (answer.ok) { location.reload(); } else { said.textContent = "This is not the token."; }
  } catch (fault) {
    said.textContent = "No answer from the station, or no token: " + fault.message;
  }
});
