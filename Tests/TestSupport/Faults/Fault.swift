import Bodega

/// A fault that lasts for some time.
package struct Fault: Sendable {
    /// The name of the fault, for the log of a test.
    package let name: String
    private let begin: @Sendable () async throws -> Void
    private let end: @Sendable () async throws -> Void

    /// Describes a fault.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - begin: Injects the fault.
    ///   - end: Removes the fault. It always runs, even if `begin` has thrown.
    package init(
        _ name: String,
        begin: @escaping @Sendable () async throws -> Void,
        end: @escaping @Sendable () async throws -> Void = {}
    ) {
        (self.name, self.begin, self.end) = (name, begin, end)
    }

    /// Injects the fault while a closure runs.
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
    /// Freezes the established connections of a proxy, in one direction or both, and thaws them later.
    package static func frozen(_ proxy: FaultyProxy, _ directions: FaultyProxy.Directions = .both) -> Fault {
        Fault("established connections frozen\(directions.suffix)") {
            proxy.freeze(directions)
        } end: {
            proxy.thaw()
        }
    }

    /// Freezes all connections of a proxy, including new ones.
    package static func partitioned(_ proxy: FaultyProxy, _ directions: FaultyProxy.Directions = .both) -> Fault {
        Fault("all connections frozen\(directions.suffix)") {
            proxy.partition(directions)
        } end: {
            proxy.thaw()
        }
    }

    /// Freezes the established connections of a proxy, and cuts them instead of thawing them.
    package static func frozenAndCut(_ proxy: FaultyProxy, _ cut: FaultyProxy.Cut) -> Fault {
        Fault("established connections frozen, then cut (\(cut))") {
            proxy.freeze()
        } end: {
            proxy.cut(cut)
        }
    }

    /// Cuts the established connections of a proxy.
    package static func cut(_ proxy: FaultyProxy, _ cut: FaultyProxy.Cut) -> Fault {
        Fault("connections cut (\(cut))") { proxy.cut(cut) }
    }

    /// Delays all bytes that pass a proxy.
    package static func delayed(_ proxy: FaultyProxy, by delay: Duration) -> Fault {
        Fault("everything delayed by \(delay)") {
            proxy.delay(by: delay)
        } end: {
            proxy.delay(by: .zero)
        }
    }

    /// All faults of a proxy's connections.
    package static func all(of proxy: FaultyProxy) -> [Fault] {
        [
            .frozen(proxy), .frozen(proxy, .toServer), .frozen(proxy, .toClient), .partitioned(proxy),
            .partitioned(proxy, .toClient), .cut(proxy, .end), .cut(proxy, .reset), .frozenAndCut(proxy, .reset),
            .delayed(proxy, by: .milliseconds(50)),
        ]
    }

    /// Stops processes with SIGSTOP and resumes them later.
    ///
    /// - Parameters:
    ///   - name: A description of the processes.
    ///   - processes: Finds the processes when the fault begins.
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
