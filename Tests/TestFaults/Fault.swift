import Bodega
import TestProcesses

/// Something that goes wrong for a time.
package struct Fault: Sendable {
    /// What goes wrong, for the log of a test.
    package let name: String
    private let begin: @Sendable () async throws -> Void
    private let end: @Sendable () async throws -> Void

    /// Describes a fault.
    ///
    /// - Parameters:
    ///   - name: What goes wrong.
    ///   - begin: Lets it go wrong.
    ///   - end: Sets it right. It runs in any case, also if `begin` has thrown.
    package init(
        _ name: String,
        begin: @escaping @Sendable () async throws -> Void,
        end: @escaping @Sendable () async throws -> Void = {}
    ) {
        (self.name, self.begin, self.end) = (name, begin, end)
    }

    /// Lets it go wrong for as long as a closure runs.
    package func during(_ body: () async throws -> Void) async throws {
        do {
            try await begin()
            try await body()
        } catch {
            try await end()
            throw error
        }
        try await end()
    }
}

extension Fault {
    /// The established connections of a proxy are frozen, in one direction or both, and thawed later.
    package static func frozen(_ proxy: FaultyProxy, _ directions: FaultyProxy.Directions = .both) -> Fault {
        Fault("established connections frozen\(directions.suffix)") {
            proxy.freeze(directions)
        } end: {
            proxy.thaw()
        }
    }

    /// All connections of a proxy are frozen, new ones included.
    package static func partitioned(_ proxy: FaultyProxy, _ directions: FaultyProxy.Directions = .both) -> Fault {
        Fault("all connections frozen\(directions.suffix)") {
            proxy.partition(directions)
        } end: {
            proxy.thaw()
        }
    }

    /// The established connections of a proxy are frozen, and never thawed but cut.
    package static func frozenAndCut(_ proxy: FaultyProxy, _ cut: FaultyProxy.Cut) -> Fault {
        Fault("established connections frozen, then cut (\(cut))") {
            proxy.freeze()
        } end: {
            proxy.cut(cut)
        }
    }

    /// The established connections of a proxy end.
    package static func cut(_ proxy: FaultyProxy, _ cut: FaultyProxy.Cut) -> Fault {
        Fault("connections cut (\(cut))") { proxy.cut(cut) }
    }

    /// What passes a proxy is delayed.
    package static func delayed(_ proxy: FaultyProxy, by delay: Duration) -> Fault {
        Fault("everything delayed by \(delay)") {
            proxy.delay(by: delay)
        } end: {
            proxy.delay(by: .zero)
        }
    }

    /// All that can happen to the connections of a proxy.
    package static func all(of proxy: FaultyProxy) -> [Fault] {
        [
            .frozen(proxy), .frozen(proxy, .toServer), .frozen(proxy, .toClient), .partitioned(proxy),
            .partitioned(proxy, .toClient), .cut(proxy, .end), .cut(proxy, .reset), .frozenAndCut(proxy, .reset),
            .delayed(proxy, by: .milliseconds(50)),
        ]
    }

    /// Processes are stopped with SIGSTOP and go on later.
    ///
    /// - Parameters:
    ///   - name: What they are.
    ///   - processes: Finds them when it begins.
    package static func stopped(_ name: String, _ processes: @escaping @Sendable () async throws -> [Int32]) -> Fault {
        let stopped = Locked<[Int32]>([])
        return Fault("\(name) stopped") {
            for process in try await processes() where ProcessSignal.stop.send(to: process) {
                stopped.withLock { $0.append(process) }
            }
        } end: {
            for process in stopped.withLock({ $0 }) { ProcessSignal.resume.send(to: process) }
            stopped.withLock { $0 = [] }
        }
    }
}

extension FaultyProxy.Directions {
    fileprivate var suffix: String {
        switch self {
        case .toServer: " on the way to the server"
        case .toClient: " on the way to the client"
        default: ""
        }
    }
}
