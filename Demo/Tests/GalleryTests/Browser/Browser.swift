import Foundation

@testable import Gallery

/// A browser, spoken to in the Chrome DevTools Protocol.
actor Browser {
    private let process: BrowserProcess
    private var reading: Task<Void, Never>?
    private var lastNumber = 0
    private var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var listeners: [Int: (session: String, method: String, AsyncStream<Data>.Continuation)] = [:]

    /// How long an answer may take. It is long because a busy machine is no defect.
    static let patience = Duration.seconds(180)

    /// What the browser has said against a command.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private init() throws {
        process = try BrowserProcess()
    }

    /// Runs a body with a browser that nobody else uses, and ends the browser.
    static func run(_ body: (Browser) async throws -> Void) async throws {
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

    /// Lets the browser close its files, and ends it.
    private func end() async {
        do {
            _ = try await send("Browser.close", returning: Tab.Ignored.self)
            try await withDeadline(Self.patience) { [reading] in await reading?.value }
        } catch {
            print("The browser does not end by itself: \(error)")
        }
        process.end()
    }

    /// Opens a page in a new tab and waits until it is loaded.
    ///
    /// - Parameters:
    ///   - url: The page's address.
    ///   - isAlone: Whether the tab gets a window of its own. Otherwise the tab that was seen before is hidden.
    func open(_ url: String, isAlone: Bool = true) async throws -> Tab {
        let tab = try await Tab(self, isAlone: isAlone)
        try await tab.navigate(to: url)
        return tab
    }

    // MARK: Commands

    /// Sends a command and waits for what it returns.
    ///
    /// - Throws: ``Refusal`` if the browser refuses, or a `CancellationError` if it takes too long.
    func send<Result: Decodable & Sendable>(
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

    /// The events of a kind in a tab, from now on, as JSON.
    func events(_ method: String, in session: String) -> AsyncStream<Data> {
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
            return print("The browser has said what is no JSON: \(error)")
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
            continuation.resume(throwing: Refusal(description: "The browser has ended."))
        }
        waiting = [:]
        for (_, _, listener) in listeners.values { listener.finish() }
        listeners = [:]
    }
}
