#if canImport(Glibc) || canImport(Musl)
import Bodega
import CCurlLibrary
import Foundation
import Logging

/// Sends requests with libcurl, on a thread of its own that all connections share.
///
/// 1. `start`, `resume` and `stop` put a command into a queue and wake the thread, from any thread.
/// 2. The thread takes the commands, and adds, resumes or removes transfers.
/// 3. It lets libcurl send and receive what is possible without waiting, and ends the exchanges of finished transfers.
/// 4. It waits for the network or a wake-up.
///
/// The lock of `commands` guards the commands. All else belongs to the thread.
final class CurlClient: HTTPClient, @unchecked Sendable {
    // @unchecked because only the thread uses `multi` and `transfers`, except to wake it, which libcurl allows.

    private enum Command {
        case start(HTTPExchange)
        case resume(HTTPExchange)
        case stop(HTTPExchange)
        case end
    }

    private struct Commands {
        var waiting: [Command] = []
        /// Whether the thread has taken the last command. It releases `multi` then.
        var haveEnded = false
    }

    private static let isAvailable: Bool = {
        let isAvailable = emporium_curl_load()
        if !isAvailable {
            bodegaLogger.warning("libcurl 7.68 or later was not found. Requests of HTTP are sent with URLSession.")
        }
        return isAvailable
    }()

    private let multi: UnsafeMutableRawPointer
    private let commands = Locked(Commands())
    private var transfers: [ObjectIdentifier: CurlTransfer] = [:]

    /// Creates a client, or returns `nil` if the program has no libcurl.
    ///
    /// - Parameter maximumConnections: The maximum number of connections to one server; `nil` if there is none.
    init?(maximumConnections: Int?) {
        guard Self.isAvailable, let multi = emporium_curl_multi_init(maximumConnections ?? 0) else { return nil }
        self.multi = multi
        let thread = Thread { [self] in run() }
        thread.name = "emporium.http"
        thread.start()
    }

    func start(_ exchange: HTTPExchange) { send(.start(exchange)) }

    func resume(_ exchange: HTTPExchange) { send(.resume(exchange)) }

    func stop(_ exchange: HTTPExchange) { send(.stop(exchange)) }

    func invalidate() { send(.end) }

    private func send(_ command: Command) {
        commands.withLock { commands in
            guard !commands.haveEnded else { return }
            commands.waiting.append(command)
            _ = emporium_curl_multi_wakeup(multi)
        }
    }

    private func run() {
        while perform() {
            emporium_curl_multi_perform(multi)
            var result: Int32 = 0
            while let easy = emporium_curl_multi_next_finished(multi, &result) {
                if let transfer = transfers.values.first(where: { $0.easy == easy }) { finish(transfer, result) }
            }
            emporium_curl_multi_poll(multi, 60_000)
        }
        for transfer in transfers.values { remove(transfer) }
        emporium_curl_multi_cleanup(multi)
    }

    /// Performs all commands. Returns `false` after the last one.
    private func perform() -> Bool {
        let commands = commands.withLock { commands in
            defer { commands.waiting = [] }
            for case .end in commands.waiting { commands.haveEnded = true }
            return commands.waiting
        }
        for command in commands {
            switch command {
            case .start(let exchange):
                guard exchange.isWaiting else { continue }
                guard let transfer = CurlTransfer(exchange), emporium_curl_multi_add(multi, transfer.easy) == 0 else {
                    exchange.fail(StorageError(.inputOutput, "libcurl can't send the request."))
                    continue
                }
                transfers[ObjectIdentifier(exchange)] = transfer
            case .resume(let exchange):
                guard let transfer = transfers[ObjectIdentifier(exchange)] else { continue }
                // It passes on the bytes that libcurl has kept, and may pause again.
                let result = emporium_curl_easy_resume(transfer.easy)
                if result != 0 { finish(transfer, result) }
            case .stop(let exchange):
                if let transfer = transfers[ObjectIdentifier(exchange)] { remove(transfer) }
            case .end:
                return false
            }
        }
        return true
    }

    private func finish(_ transfer: CurlTransfer, _ result: Int32) {
        remove(transfer)
        transfer.finish(result)
    }

    private func remove(_ transfer: CurlTransfer) {
        transfers[ObjectIdentifier(transfer.exchange)] = nil
        emporium_curl_multi_remove(multi, transfer.easy)
    }
}
#endif
