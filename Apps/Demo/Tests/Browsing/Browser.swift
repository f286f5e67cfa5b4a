package import Foundation
import Gallery

/// A browser, controlled through the Chrome DevTools Protocol.
package actor Browser {
    private let process: BrowserProcess
    private var reading: Task<Void, Never>?
    private var lastNumber = 0
    private var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var listeners: [Int: (session: String, method: String, AsyncStream<Data>.Continuation)] = [:]

    /// The time limit for a response. It is long, so that a busy machine does not fail a test.
    package static let patience = Duration.seconds(180)

    /// The browser's error message for a command.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    private init() throws {
        process = try BrowserProcess()
    }

    /// Runs a body with a browser of its own, and ends the browser.
    package static func run(_ body: (Browser) async throws -> Void) async throws {
        let browser = try Browser()
        await browser.startReading()
        do {
            try await body(browser)
        } catch {
            await browser.end()
            throw error
        }
        await browser.end()
    }

    /// Asks the browser to close its files and exit.
    private func end() async {
        do {
            _ = try await send("Browser.close", returning: Tab.Ignored.self)
            try await withDeadline(Self.patience) { [reading] in await reading?.value }
        } catch {
            print("The browser did not exit: \(error)")
        }
        process.end()
    }

    /// Opens a page in a new tab and waits until it has loaded.
    ///
    /// - Parameters:
    ///   - url: The page's address.
    ///   - isAlone: Whether the tab gets a window of its own. Otherwise it hides the visible tab.
    package func open(_ url: String, isAlone: Bool = true) async throws -> Tab {
        let tab = try await Tab(self, isAlone: isAlone)
        try await tab.navigate(to: url)
        return tab
    }

    // MARK: Commands

    /// Sends a command and returns its result.
    ///
    /// - Throws: ``Refusal`` if the browser returns an error, or a `CancellationError` after the time limit.
    package func send<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        session: String? = nil,
        returning: Result.Type
    ) async throws -> Result {
        lastNumber += 1
        let number = lastNumber
        var command: [String: any Sendable] = ["id": number, "method": method, "params": parameters]
        command["sessionId"] = session
        let json = try JSONSerialization.data(withJSONObject: command)
        let answer = try await withDeadline(Self.patience) { try await self.exchange(json, number) }
        return try JSONDecoder().decode(Answer<Result>.self, from: answer).value()
    }

    private struct Answer<Result: Decodable>: Decodable {
        struct Problem: Decodable { let message: String }
        let result: Result?
        let error: Problem?

        func value() throws -> Result {
            if let result { return result }
            throw Refusal(description: error?.message ?? "There is no result.")
        }
    }

    private func exchange(_ json: Data, _ number: Int) async throws -> Data {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting[number] = continuation
                do {
                    try process.send(json)
                } catch {
                    waiting.removeValue(forKey: number)?.resume(throwing: error)
                }
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    private func giveUp(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }

    // MARK: Events

    /// A stream of the future events of one kind in a tab, as JSON.
    package func events(_ method: String, in session: String) -> AsyncStream<Data> {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        lastNumber += 1
        listeners[lastNumber] = (session, method, continuation)
        return stream
    }

    private struct Message: Decodable {
        let id: Int?
        let method: String?
        let sessionId: String?
    }

    private func startReading() {
        reading = Task { [messages = process.messages] in
            for await json in messages { receive(json) }
            giveUpAll()
        }
    }

    private func receive(_ json: Data) {
        let message: Message
        do {
            message = try JSONDecoder().decode(Message.self, from: json)
        } catch {
            return print("The browser has sent invalid JSON: \(error)")
        }
        if let id = message.id {
            waiting.removeValue(forKey: id)?.resume(returning: json)
        } else {
            for (session, method, listener) in listeners.values
            where session == message.sessionId && method == message.method { listener.yield(json) }
        }
    }

    private func giveUpAll() {
        for continuation in waiting.values {
            continuation.resume(throwing: Refusal(description: "The browser has exited."))
        }
        waiting = [:]
        for (_, _, listener) in listeners.values { listener.finish() }
        listeners = [:]
    }
}
