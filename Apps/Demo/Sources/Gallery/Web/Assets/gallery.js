// Makes the page live. Without this script every button still works, but reloads the page.
"use strict";

// MARK: Applying changes

// Makes the children of one element equal to those of another. An element that has the same `id` or `data-key` in both
// is kept, so that the focus, typed text and open panels stay, and pictures are not loaded again.
function morphChildren(current, wanted) {
    const key = (node) => node.id || node.dataset?.key || null;
    const wantedKeys = new Set([...wanted.children].map(key));
    // Removed elements go first, so that kept elements need not be moved: an element loses the focus when it is moved.
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

// Fetches this page again and applies the changes. Calls during a refresh are coalesced into one further refresh.
async function refresh() {
    needsRefresh = true;
    if (isRefreshing) return;
    isRefreshing = true;
    try {
        while (needsRefresh) {
            needsRefresh = false;
            const response = await fetch(location.href, { headers: { Accept: "text/html" } });
            const page = new DOMParser().parseFromString(await response.text(), "text/html");
            // A missing page (404) replaces the current one. After any other error the current page is better.
            const isPage = response.ok || response.status === 404;
            // A form that leaves the page may be the reason why it is missing. The page after it explains more.
            const isLeaving = [...sending.keys()].some((form) => "leaves" in form.dataset);
            if (response.ok || isPage && !isLeaving) show(page);
            showConnection(isPage, `The gallery returned an error (${response.status}). This page may be out of date.`);
        }
    } catch {
        showConnection(false);
    } finally {
        isRefreshing = false;
    }
}

function show(page) {
    keepFocus(() => {
        document.title = page.title;
        document.documentElement.dataset.theme = page.documentElement.dataset.theme;
        morphChildren(document.body, page.body);
    });
    document.documentElement.dataset.live = events?.readyState === EventSource.OPEN;
    // Browsers do not reload a picture whose connection was lost, or that is still the placeholder, 4 pixels wide.
    for (const image of document.images) {
        if (image.complete && [0, 4].includes(image.naturalWidth)) image.src = image.getAttribute("src");
    }
}

// Changes the page. If the element with the focus is removed, the focus moves to a nearby one instead of the top of the
// page.
function keepFocus(change) {
    const focused = document.activeElement;
    const card = focused?.closest(".card");
    const list = card?.parentNode;
    const place = card ? [...list.children].indexOf(card) : -1;
    change();
    if (focused === document.body) return;
    if (focused?.isConnected) {
        // An element that was moved has lost the focus.
        if (document.activeElement !== focused) focused.focus();
        return;
    }
    const cards = list?.isConnected ? list.children : [];
    const near = cards[Math.min(place, cards.length - 1)];
    const nearby = place < 0 ? document.getElementById(focused.id) : near?.querySelector(".card-link, button");
    (nearby ?? document.getElementById("favourites-title") ?? document.getElementById("main")).focus();
}

// MARK: Receiving events

function showConnection(isThere, problem) {
    const banner = document.getElementById("connection");
    banner.hidden = isThere;
    banner.textContent = isThere ? "" : problem ?? "The gallery does not respond. Retrying…";
    if (!isThere && !problem) {
        // The state in the header is unknown now. The next refresh shows it again.
        const state = document.getElementById("api-state");
        state.className = "state offline";
        state.querySelector(".state-text").textContent = "No connection";
    }
    clearTimeout(nextRefresh);
    // A reconnected stream of events causes a refresh. While the stream is open, only the next change would.
    if (!isThere && events?.readyState === EventSource.OPEN) nextRefresh = setTimeout(refresh, 2000);
}

let events = null;
let nextRefresh = 0;
let nextTry = 0;

// Browsers open at most six connections to a server, for all tabs together. So a page keeps one only while it is
// visible.
function listen() {
    if (events || document.hidden) return;
    events = new EventSource(eventsAddress());
    if (document.getElementById("archive")) listenToArchive(events);
    events.addEventListener("open", () => showConnection(true));
    // The first events name every kind of change, so the page catches up.
    events.addEventListener("change", refresh);
    events.addEventListener("error", ({ target }) => {
        if (target !== events) return;
        showConnection(false);
        document.documentElement.dataset.live = "false";
        if (target.readyState !== EventSource.CLOSED && target.url === eventsAddress()) return;
        // The browser has given up, or would ask for fewer pictures than the page shows, so the page reconnects.
        stopListening();
        nextTry = setTimeout(listen, 2000);
    });
}

function stopListening() {
    clearTimeout(nextTry);
    events?.close();
    events = null;
    windowID = null;
    document.documentElement.dataset.live = "false";
}

function eventsAddress() {
    return location.origin + (document.getElementById("archive") ? "/archive/events" + location.search : "/events");
}

document.addEventListener("visibilitychange", () => document.hidden ? stopListening() : listen());
addEventListener("pagehide", stopListening);
// A page that the browser restores from its cache has missed changes, and its forms have been sent.
addEventListener("pageshow", () => {
    sending.clear();
    listen();
});

// MARK: The archive

// The server's name of the window that the page shows, while the stream of events is open.
let windowID = null;

function listenToArchive(source) {
    const on = (name, apply) => source.addEventListener(name, ({ data, target }) => {
        if (target === events) apply(JSON.parse(data));
    });
    on("window", ({ id }) => { windowID = id; });
    on("rows", (change) => keepFocus(() => changeRows(change)));
    on("summary", ({ summary, more }) => keepFocus(() => {
        morphChildren(document.getElementById("summary"), parse(summary));
        morphChildren(document.getElementById("more-area"), parse(more));
    }));
}

function parse(html) {
    return new DOMParser().parseFromString(html ?? "", "text/html").body;
}

// Changes the pictures as an event says. Places are counted as in an array.
function changeRows({ kind, html, from, at }) {
    const rows = document.getElementById("rows");
    const wanted = parse(html);
    if (kind === "loaded") return morphChildren(rows, wanted);
    if (kind === "removed") return rows.children[at].remove();
    if (kind === "updated") return morph(rows.children[at], wanted.firstElementChild);
    let row = wanted.firstElementChild;
    if (kind === "moved") {
        const moved = rows.children[from];
        morph(moved, row);
        moved.remove();
        row = moved;
    }
    rows.insertBefore(row, rows.children[at] ?? null);
}

// Shows the pictures of a search form. Its values are also those of the address, so that a reload shows the same.
function search(form) {
    clearTimeout(nextSearch);
    history.replaceState(null, "", `${form.action}?${new URLSearchParams(new FormData(form))}`);
    stopListening();
    listen();
}

let nextSearch = 0;

document.addEventListener("input", ({ target }) => {
    if (target.form?.id !== "search") return;
    clearTimeout(nextSearch);
    nextSearch = setTimeout(search, 150, target.form);
});

document.addEventListener("click", async (event) => {
    const more = event.target.closest("#more");
    // Without a window, the link leads to a page with more pictures.
    if (!more || !windowID || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (more.hasAttribute("aria-busy")) return;
    more.setAttribute("aria-busy", "true");
    history.replaceState(null, "", more.href);
    try {
        const response = await fetch(`/archive/windows/${windowID}/more`, {
            method: "POST",
            headers: { Prefer: "return=minimal" },
        });
        showRefusal(response);
    } catch {
        showConnection(false);
    } finally {
        more.removeAttribute("aria-busy");
    }
});

// MARK: Sending forms

// The forms that are being sent, each with its data and the button to press next. A page that is fetched in the
// meantime does not have their state.
const sending = new Map();

// Whether an attribute marks a form, or a button of it, as being sent.
function isSending(element, name) {
    return name === "data-busy" && sending.has(element) || name === "aria-busy" && sending.has(element.form);
}

function showRefusal(response) {
    const banner = document.getElementById("refusal");
    banner.hidden = response.ok;
    banner.textContent = response.ok ? "" : `The request failed: the gallery returned an error (${response.status}).`;
}

document.addEventListener("submit", async (event) => {
    const form = event.target;
    const button = event.submitter;
    if (form.id === "search") {
        event.preventDefault();
        return search(form);
    }
    const data = new URLSearchParams(new FormData(form, button));
    // A second click on the same button has no effect. Another choice, or a changed text, is sent after the first one.
    const current = sending.get(form);
    if (current) {
        current.next = data.toString() === current.data ? null : button;
        return event.preventDefault();
    }
    const submission = { data: data.toString(), next: null };
    sending.set(form, submission);
    // The browser sends this form and leaves the page.
    if ("leaves" in form.dataset) return;
    event.preventDefault();
    form.dataset.busy = "true";
    button?.setAttribute("aria-busy", "true");
    button?.closest(".dialog")?.hidePopover();
    try {
        const response = await fetch(form.action, {
            method: "POST",
            body: data,
            headers: { Prefer: "return=minimal" },
        });
        showRefusal(response);
        if (response.ok && "empties" in form.dataset) form.reset();
        await refresh();
    } catch {
        showConnection(false);
    } finally {
        sending.delete(form);
        delete form.dataset.busy;
        button?.removeAttribute("aria-busy");
        if (submission.next?.isConnected) form.requestSubmit(submission.next);
    }
});

listen();
