import Foundation
import Gallery

/// A tab of a browser.
package actor Tab {
    private let browser: Browser
    private let session: String
    private var listening: [Task<Void, Never>] = []
    /// The problems of the page: errors on the console, exceptions, refused requests.
    package private(set) var problems: [String] = []

    package struct Ignored: Decodable, Sendable {}

    /// Opens an empty tab.
    ///
    /// - Parameters:
    ///   - browser: The browser.
    ///   - isAlone: Whether the tab gets a window of its own. Otherwise it hides the visible tab.
    package init(_ browser: Browser, isAlone: Bool = true) async throws {
        struct Target: Decodable { let targetId: String }
        struct Attachment: Decodable { let sessionId: String }
        self.browser = browser
        let target = try await browser.send(
            "Target.createTarget", ["url": "about:blank", "newWindow": isAlone], returning: Target.self)
        session = try await browser.send(
            "Target.attachToTarget", ["targetId": target.targetId, "flatten": true], returning: Attachment.self
        ).sessionId
        for kind in ["Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"] {
            await collectProblems(kind)
        }
        for domain in ["Page", "Runtime", "Log"] { try await send("\(domain).enable") }
        try await resize(1280, 900)
    }

    private func collectProblems(_ kind: String) async {
        let events = await browser.events(kind, in: session)
        listening.append(
            Task {
                for await json in events {
                    let text = String(decoding: json, as: UTF8.self)
                    let isHarmless = kind != "Runtime.exceptionThrown" && !text.contains("\"error\"")
                    if !isHarmless { problems.append(text) }
                }
            })
    }

    /// Sends a command to this tab.
    package func send<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        returning: Result.Type
    ) async throws -> Result {
        try await browser.send(method, parameters, session: session, returning: returning)
    }

    /// Sends a command to this tab and ignores its result.
    package func send(_ method: String, _ parameters: [String: any Sendable] = [:]) async throws {
        _ = try await browser.send(method, parameters, session: session, returning: Ignored.self)
    }

    // MARK: Loading

    /// Navigates to a page and waits until it has loaded.
    package func navigate(to url: String) async throws {
        try await loading { try await self.send("Page.navigate", ["url": url]) }
    }

    /// Runs a body that loads a page, and waits until the page has loaded.
    package func loading(_ body: @Sendable () async throws -> Void) async throws {
        let loads = await browser.events("Page.loadEventFired", in: session)
        try await body()
        let isLoaded = try await withDeadline(Browser.patience) { await loads.first { _ in true } != nil }
        if !isLoaded { throw Browser.Refusal(description: "The page was not loaded.") }
    }

    // MARK: Looking

    private struct Evaluation<Value: Decodable & Sendable>: Decodable, Sendable {
        struct Remote: Decodable, Sendable { let value: Value? }
        struct Exception: Decodable, Sendable { let description: String? }
        struct Details: Decodable, Sendable {
            let text: String
            let exception: Exception?
        }
        let value: Value?
        let exceptionDetails: Details?

        private enum Key: CodingKey { case result, exceptionDetails }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            exceptionDetails = try container.decodeIfPresent(Details.self, forKey: .exceptionDetails)
            // If the expression throws, the result is the exception.
            value = exceptionDetails == nil ? try container.decode(Remote.self, forKey: .result).value : nil
        }
    }

    /// The value of an expression in the page. The expression may be a promise.
    package func evaluate<Value: Decodable & Sendable>(
        _ expression: String,
        as: Value.Type = String.self
    ) async throws -> Value {
        let evaluation = try await send(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true],
            returning: Evaluation<Value>.self
        )
        if let details = evaluation.exceptionDetails {
            throw Browser.Refusal(description: details.exception?.description ?? details.text)
        }
        guard let value = evaluation.value else {
            throw Browser.Refusal(description: "\(expression) has no value.")
        }
        return value
    }

    /// Waits until a condition holds, also across navigations.
    package func wait(for condition: String) async throws {
        let deadline = ContinuousClock.now + Browser.patience
        while true {
            do {
                _ = try await evaluate(Self.promise(of: condition), as: Bool.self)
                return
            } catch let refusal as Browser.Refusal where ContinuousClock.now < deadline {
                // A navigation has discarded the promise.
                let isGone = ["context was destroyed", "navigated", "Cannot find context"].contains {
                    refusal.description.contains($0)
                }
                if !isGone { throw refusal }
            }
        }
    }

    private static func promise(of condition: String) -> String {
        """
        new Promise((resolve, reject) => {
            const check = () => {
                let isTrue = false;
                try { isTrue = Boolean(\(condition)); } catch {}
                if (!isTrue) return;
                observer.disconnect();
                clearInterval(timer);
                clearTimeout(limit);
                resolve(true);
            };
            const observer = new MutationObserver(check);
            observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
            // Changes that are not mutations of the document: images, the focus, popovers.
            const timer = setInterval(check, 50);
            const limit = setTimeout(() => reject(new Error(
                "Timed out waiting for: " + \(quoted(condition)) + "\\n" + document.body?.innerText)), 170000);
            check();
        })
        """
    }

    /// A text as a JavaScript string literal.
    package static func quoted(_ text: String) -> String {
        String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }

    /// The rendered text of the first element that matches a selector.
    package func text(_ selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(Self.quoted(selector))).innerText.trim()")
    }

    /// The number of elements that match a selector.
    package func count(_ selector: String) async throws -> Int {
        try await evaluate("document.querySelectorAll(\(Self.quoted(selector))).length", as: Int.self)
    }

    /// Whether an element matches a selector.
    package func exists(_ selector: String) async throws -> Bool {
        try await count(selector) > 0
    }
}
