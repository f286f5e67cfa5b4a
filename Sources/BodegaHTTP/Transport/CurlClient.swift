#if canImport(Glibc) || canImport(Musl)
import Bodega
import CCurlLibrary
import Foundation
import Logging

/// Sends requests with libcurl, on a thread of its own that all connections share.
///
/// 1. `start` and `stop` put a command into a queue and wake the thread, from any other thread.
/// 2. The thread takes the commands, and adds or removes transfers.
/// 3. It lets libcurl send and receive what is possible without waiting, and ends the exchanges of finished transfers.
/// 4. It waits for the network or a wake-up.
///
/// The lock of `commands` guards the commands. All else belongs to the thread.
final class CurlClient: HTTPClient, @unchecked Sendable {
    // @unchecked because only the thread uses `multi` and `transfers`, except to wake it, which libcurl allows.

    private enum Command {
        case start(HTTPExchange)
        case stop(HTTPExchange)
        case end
    }

    private static let isAvailable: Bool = {
        let isAvailable = emporium_curl_load()
        if !isAvailable {
            bodegaLogger.warning("libcurl 7.68 or later was not found. Requests of HTTP are sent with URLSession.")
        }
        return isAvailable
    }()

    private let multi: UnsafeMutableRawPointer
    private let commands = Locked<[Command]>([])
    private var transfers: [ObjectIdentifier: CurlTransfer] = [:]

    /// Creates a client, or returns `nil` if the program has no libcurl.
    init?(maximumConnections: Int) {
        guard Self.isAvailable, let multi = emporium_curl_multi_init(maximumConnections) else { return nil }
        self.multi = multi
        let thread = Thread { [self] in run() }
        thread.name = "emporium.http"
        thread.start()
    }

    func start(_ exchange: HTTPExchange) { send(.start(exchange)) }

    func stop(_ exchange: HTTPExchange) { send(.stop(exchange)) }

    func invalidate() { send(.end) }

    private func send(_ command: Command) {
        commands.withLock { commands in
            commands.append(command)
            // Under the lock, because the thread releases `multi` after it has taken the last command.
            _ = emporium_curl_multi_wakeup(multi)
        }
    }

    private func run() {
        while perform() {
            emporium_curl_multi_perform(multi)
            var result: Int32 = 0
            while let easy = emporium_curl_multi_next_finished(multi, &result) {
                guard let transfer = transfers.values.first(where: { $0.easy == easy }) else { continue }
                remove(transfer)
                transfer.finish(result)
            }
            emporium_curl_multi_poll(multi, 60_000)
        }
        for transfer in transfers.values { remove(transfer) }
        emporium_curl_multi_cleanup(multi)
    }

    /// Performs all commands. Returns `false` after the last one.
    private func perform() -> Bool {
        let commands = commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
        for command in commands {
            switch command {
            case .start(let exchange):
                guard exchange.isWaiting else { continue }
                guard let transfer = CurlTransfer(exchange), emporium_curl_multi_add(multi, transfer.easy) == 0 else {
                    exchange.end(.failure(StorageError(.inputOutput, "libcurl can't send the request.")))
                    continue
                }
                transfers[ObjectIdentifier(exchange)] = transfer
            case .stop(let exchange):
                if let transfer = transfers[ObjectIdentifier(exchange)] { remove(transfer) }
            case .end:
                return false
            }
        }
        return true
    }

    private func remove(_ transfer: CurlTransfer) {
        transfers[ObjectIdentifier(transfer.exchange)] = nil
        emporium_curl_multi_remove(multi, transfer.easy)
    }
}
#endif
