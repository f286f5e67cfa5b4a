// Makes the page live. Without this script every button still works; the page is then loaded anew.
"use strict";

// MARK: Taking over what has changed

// Makes one element's children those of another one. Elements with the same `id` or `data-key` stay what they are, so the
// focus, what was typed, and open panels are kept, and pictures are not loaded again.
function morphChildren(current, wanted) {
    const key = (node) => node.id || node.dataset?.key || null;
    const wantedKeys = new Set([...wanted.children].map(key));
    // What is gone goes first, so that what stays need not be moved: moving takes the focus away.
    for (const node of [...current.children]) {
        if (key(node) && !wantedKeys.has(key(node))) node.remove();
    }
    const known = new Map([...current.children].filter(key).map((node) => [key(node), node]));
    let place = current.firstChild;
    for (const node of [...wanted.childNodes]) {
        const found = key(node) ? known.get(key(node)) : sameKind(place, node) ? place : null;
        if (found && found.nodeName === node.nodeName) {
            if (found === place) place = place.nextSibling;
            else current.insertBefore(found, place);
            morph(found, node);
        } else {
            current.insertBefore(document.importNode(node, true), place);
        }
    }
    while (place) {
        const next = place.nextSibling;
        place.remove();
        place = next;
    }

    function sameKind(place, node) {
        return place && place.nodeName === node.nodeName && !key(place);
    }
}

function morph(current, wanted) {
    if (current.isEqualNode(wanted)) return;
    if (current.nodeType !== Node.ELEMENT_NODE) {
        current.nodeValue = wanted.nodeValue;
        return;
    }
    if (current.hasAttribute("data-keep")) return;
    for (const { name } of [...current.attributes]) {
        if (!wanted.hasAttribute(name) && !isSending(current, name)) current.removeAttribute(name);
    }
    for (const { name, value } of wanted.attributes) {
        if (current.getAttribute(name) !== value) current.setAttribute(name, value);
    }
    morphChildren(current, wanted);
}

let isRefreshing = false;
let needsRefresh = false;

// Fetches this page again and takes over what is new. While that goes on, further calls are put together into one.
async function refresh() {
    needsRefresh = true;
    if (isRefreshing) return;
    isRefreshing = true;
    try {
        while (needsRefresh) {
            needsRefresh = false;
            const response = await fetch(location.href, { headers: { Accept: "text/html" } });
            const page = new DOMParser().parseFromString(await response.text(), "text/html");
            // That something is gone is worth a page. Any other error is not: what is there is better.
            const isPage = response.ok || response.status === 404;
            if (isPage) show(page);
            showConnection(isPage, `The gallery has answered with an error (${response.status}). This page may be old.`);
        }
    } catch {
        showConnection(false);
    } finally {
        isRefreshing = false;
    }
}

function show(page) {
    const focused = document.activeElement;
    const card = focused?.closest(".card");
    const place = card ? [...card.parentNode.children].indexOf(card) : -1;
    document.title = page.title;
    document.documentElement.dataset.theme = page.documentElement.dataset.theme;
    morphChildren(document.body, page.body);
    document.documentElement.dataset.live = events?.readyState === EventSource.OPEN;
    // No browser tries again to load a picture that got lost with the connection.
    for (const image of document.images) {
        if (image.complete && image.naturalWidth === 0) image.src = image.getAttribute("src");
    }
    // The focus must not fall back to the top of the page when what had it is gone.
    if (focused?.isConnected || focused === document.body) return;
    const cards = document.querySelectorAll(".card-link");
    const nearby = place < 0 ? document.getElementById(focused.id) : cards[Math.min(place, cards.length - 1)];
    (nearby ?? document.getElementById("favourites-title") ?? document.getElementById("main")).focus();
}

// MARK: Hearing of changes

function showConnection(isThere, problem) {
    const banner = document.getElementById("connection");
    banner.hidden = isThere;
    banner.textContent = isThere ? "" : problem ?? "The gallery does not answer. Retrying…";
    if (!isThere && !problem) {
        // What the header has said is not known any more. The next page says it again.
        const state = document.getElementById("api-state");
        state.className = "state offline";
        state.querySelector(".state-text").textContent = "No connection";
    }
    clearTimeout(nextRefresh);
    // When the stream of events begins anew, it makes us ask. While it goes on, only the next change would.
    if (!isThere && events?.readyState === EventSource.OPEN) nextRefresh = setTimeout(refresh, 2000);
}

let events = null;
let nextRefresh = 0;
let nextTry = 0;

// Browsers have six connections to a server, for all their tabs together. So a page has one only while it can be seen.
function listen() {
    if (events || document.hidden) return;
    events = new EventSource("/events");
    events.addEventListener("open", () => showConnection(true));
    // The first events tell what is there, so what was missed is caught up with.
    events.addEventListener("change", refresh);
    events.addEventListener("error", ({ target }) => {
        if (target !== events) return;
        showConnection(false);
        document.documentElement.dataset.live = "false";
        if (target.readyState !== EventSource.CLOSED) return;
        // The browser has given up; we don't.
        stopListening();
        nextTry = setTimeout(listen, 2000);
    });
}

function stopListening() {
    clearTimeout(nextTry);
    events?.close();
    events = null;
    document.documentElement.dataset.live = "false";
}

document.addEventListener("visibilitychange", () => document.hidden ? stopListening() : listen());
addEventListener("pagehide", stopListening);
// A page that comes back from the browser's memory has missed what has changed since, and what it has sent has arrived.
addEventListener("pageshow", () => {
    sending.clear();
    listen();
});

// MARK: Sending forms

// The forms that are being sent. A page that comes in the meantime knows nothing of that.
const sending = new Set();

// Whether an attribute says that a form, or a button of it, is being sent.
function isSending(element, name) {
    return name === "data-busy" && sending.has(element) || name === "aria-busy" && sending.has(element.form);
}

function showRefusal(response) {
    const banner = document.getElementById("refusal");
    banner.hidden = response.ok;
    banner.textContent = response.ok ? "" : `The gallery has not done that, but answered with an error (${response.status}).`;
}

document.addEventListener("submit", async (event) => {
    const form = event.target;
    const button = event.submitter;
    // A second click, while the first is on its way.
    if (sending.has(form)) return event.preventDefault();
    sending.add(form);
    // Then the page is left, which the browser does by itself.
    if ("leaves" in form.dataset) return;
    event.preventDefault();
    form.dataset.busy = "true";
    button?.setAttribute("aria-busy", "true");
    button?.closest(".dialog")?.hidePopover();
    try {
        const response = await fetch(form.action, {
            method: "POST",
            body: new URLSearchParams(new FormData(form, button)),
            headers: { Prefer: "return=minimal" },
        });
        showRefusal(response);
        await refresh();
    } catch {
        showConnection(false);
    } finally {
        sending.delete(form);
        delete form.dataset.busy;
        button?.removeAttribute("aria-busy");
    }
});

listen();
