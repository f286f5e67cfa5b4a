#if Postgres
import Bodega
import Foundation
import TestSupport

/// A fault of a cluster or its clients.
enum ClusterFault: String, CaseIterable, Sendable {
    case switchover = "switchover"
    case killedServer = "primary killed"
    case lostMachine = "primary and its Patroni killed"
    case partition = "primary partitioned from clients, standbys and etcd"
    case pause = "primary and its Patroni stopped"
    case pausedServer = "some backends of the primary stopped"
    case pausedStandby = "synchronous standby stopped"
    case pausedEtcd = "etcd stopped"
    case frozenClients = "established connections of clients frozen"
    case frozenAnswers = "answers to clients frozen"
    case cutClients = "connections of clients reset"
    case pausedClient = "a process with stores stopped"

    /// The order of some rounds. Of 17 rounds, ten change the leader, and each fault happens.
    static func order(_ rounds: Int, using random: inout some RandomNumberGenerator) -> [ClusterFault] {
        let failovers: [ClusterFault] = [.switchover, .killedServer, .lostMachine, .partition, .pause]
        var order: [ClusterFault] = []
        while order.count < rounds {
            order += (failovers + failovers + allCases.filter { !failovers.contains($0) })
                .shuffled(using: &random)
        }
        return Array(order.prefix(rounds))
    }

    /// Injects the fault, and removes it.
    ///
    /// - Parameters:
    ///   - length: The duration, unless the cluster determines it.
    ///   - clients: The processes with stores.
    func happen(to cluster: Cluster, length: Duration, clients: [Int32]) async throws {
        guard let leader = try await cluster.leader() else { throw PostgresServerError("The cluster has no leader.") }
        report("    \(leader.name) leads, with \(try leader.serverProcesses().count) processes")
        switch self {
        case .switchover:
            let candidate = try await cluster.synchronousStandbys().first ?? cluster.members[0]
            try await cluster.switchOver(from: leader, to: candidate)
        case .killedServer:
            // Patroni promotes a standby or restarts the server.
            try leader.killServer()
        case .lostMachine:
            try await leader.kill()
            try await awaitOther(than: leader, in: cluster)
            try await leader.start()
        case .partition:
            for proxy in leader.proxies.all { proxy.partition() }
            try await awaitOther(than: leader, in: cluster)
            try await Task.sleep(for: length)
            for proxy in leader.proxies.all { proxy.thaw() }
        case .pause:
            try await Fault.stopped(rawValue) { try await leader.processes() }.during {
                try await awaitOther(than: leader, in: cluster)
                try await Task.sleep(for: length)
            }
        case .pausedServer:
            try await Fault.stopped(rawValue) {
                // Neither the main process nor those that write the log.
                try leader.serverProcesses().dropFirst().filter { $0.isMultiple(of: 2) }
            }.during { try await Task.sleep(for: length) }
        case .pausedStandby:
            let standbys = try await cluster.synchronousStandbys()
            try await Fault.stopped(rawValue) { try standbys.flatMap { try $0.serverProcesses() } }
                .during { try await Task.sleep(for: length) }
        case .pausedEtcd:
            try await Fault.stopped(rawValue) { [cluster.etcd.identifier] }.during { try await Task.sleep(for: length) }
        case .frozenClients, .frozenAnswers:
            for member in cluster.members {
                member.proxies.clients.freeze(self == .frozenClients ? .both : .toClient)
            }
            try await Task.sleep(for: length)
            for member in cluster.members { member.proxies.clients.thaw() }
        case .cutClients:
            for member in cluster.members { member.proxies.clients.cut(.reset) }
        case .pausedClient:
            try await Fault.stopped(rawValue) { clients.prefix(1).map { $0 } }
                .during { try await Task.sleep(for: length) }
        }
    }

    private func awaitOther(than leader: Member, in cluster: Cluster) async throws {
        try await waitUntil("another server led", within: .seconds(120)) {
            // A partitioned or stopped server may still consider itself the leader.
            for member in cluster.members where member.name != leader.name {
                do {
                    if try await member.sql("SELECT pg_is_in_recovery()", programs: cluster.programs) == "f" {
                        return true
                    }
                } catch {
                    continue
                }
            }
            return false
        }
    }
}
#endif
