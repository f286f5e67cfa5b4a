#if Postgres
import Foundation
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Three servers with synchronous replication, which Patroni manages, and their etcd.
final class Cluster: Sendable {
    let members: [Member]
    let programs: PostgresPrograms
    let etcd: Daemon

    /// The URL of the database for clients, which reach each server through a proxy.
    var url: String {
        let places = members.map { "127.0.0.1:\($0.proxies.clients.port)" }.joined(separator: ",")
        let secret = PostgresServer.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "postgresql://\(PostgresServer.user):\(secret)@\(places)/postgres"
    }

    /// Starts a cluster and waits until all its servers are in use.
    init(keeper: Keeper) async throws {
        programs = try .find()
        let (port, peerPort) = (try freePort(), try freePort())
        let folder = keeper.folder.appendingPathComponent("etcd").path
        let (place, peer) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(peerPort)")
        etcd = try keeper.start(
            "etcd", "/usr/bin/etcd",
            [
                "--name", "chaos", "--data-dir", folder, "--listen-client-urls", place, "--advertise-client-urls",
                place,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", "chaos=\(peer)", "--enable-v2", "--logger", "zap", "--log-level", "error",
            ])
        members = try (0..<3).map { try Member($0, etcd: port, keeper: keeper) }
        // The first one creates the database.
        try await members[0].start()
        try await waitUntil("the first member led", within: .seconds(90)) { try await leader() != nil }
        for member in members.dropFirst() { try await member.start() }
        try await waitUntilComplete()
    }

    /// The member that has the lease and accepts writes, according to the members.
    func leader() async throws -> Member? {
        for member in members {
            guard let view = await view(from: member) else { continue }
            let name = view.members.first { $0.role == "leader" && $0.state == "running" }?.name
            if let name { return members.first { $0.name == name } }
        }
        return nil
    }

    /// The number of changes of the leader.
    func timeline() async throws -> Int {
        try await settled {
            Int(try await $0.sql("SELECT timeline_id FROM pg_control_checkpoint()", programs: programs))
        }
    }

    /// Executes SQL on the leader.
    func sql(_ text: String) async throws -> String {
        try await settled { try await $0.sql(text, programs: programs) }
    }

    /// Waits until all servers follow the leader, one of them synchronously.
    func waitUntilComplete() async throws {
        let states =
            "SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication "
            + "WHERE state = 'streaming'"
        var nextRepair = ContinuousClock.now + .seconds(60)
        do {
            try await waitUntil("all servers followed the leader", within: .seconds(240)) {
                // Patroni records later than the server which standby may take over.
                guard let leader = try await leader() else { return false }
                do {
                    // A standby that others follow has no synchronous standby.
                    let isComplete = try await leader.sql(states, programs: programs) == "2|1"
                    if isComplete { return try await synchronousStandbys().count == 1 }
                    guard ContinuousClock.now > nextRepair else { return false }
                    nextRepair = .now + .seconds(60)
                    try await copyAgain(from: leader)
                } catch {
                    return false
                }
                return false
            }
        } catch {
            var words = "\(error)\n"
            for member in members { words += "\(member.name): \(await member.lastWords)\n" }
            throw PostgresServerError(words)
        }
    }

    /// Recreates standbys that can't follow the leader from a copy of it, as an operator would.
    private func copyAgain(from leader: Member) async throws {
        let answer = try await leader.sql(
            "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'", programs: programs)
        let following = answer.split(separator: "\n").map(String.init)
        for member in members where member.name != leader.name && !following.contains(member.name) {
            report("    \(member.name) can't follow, and is recreated")
            _ = try await request("reinitialize", of: member, body: Data("{\"force\": true}".utf8), limit: 30)
        }
    }

    /// Requests a switchover.
    func switchOver(from leader: Member, to candidate: Member) async throws {
        let body = try JSONEncoder().encode(["leader": leader.name, "candidate": candidate.name])
        let answer = try await request("switchover", of: leader, body: body, limit: 60)
        if answer.status != 200 { throw PostgresServerError("The switchover was refused: \(answer.text)") }
    }

    /// The names of the standbys for which a commit waits.
    func synchronousStandbys() async throws -> [Member] {
        for member in members {
            guard let view = await view(from: member) else { continue }
            let names = view.members.filter { $0.role == "sync_standby" }.map(\.name)
            return members.filter { names.contains($0.name) }
        }
        return []
    }

    // MARK: Patroni's interface

    private struct View: Decodable {
        struct Member: Decodable {
            let name: String
            let role: String
            let state: String
        }
        let members: [Member]
    }

    private func view(from member: Member) async -> View? {
        do {
            let answer = try await request("cluster", of: member, limit: 3)
            return try JSONDecoder().decode(View.self, from: Data(answer.text.utf8))
        } catch {
            // The member is stopped or starting.
            return nil
        }
    }

    private func request(
        _ path: String,
        of member: Member,
        body: Data? = nil,
        limit: TimeInterval
    ) async throws -> (status: Int, text: String) {
        guard let url = URL(string: "http://127.0.0.1:\(member.ports.api)/\(path)") else { fatalError("no URL") }
        var request = URLRequest(url: url, timeoutInterval: limit)
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    /// Queries the leader, and retries while the leader changes.
    private func settled<Value>(_ body: (Member) async throws -> Value?) async throws -> Value {
        var value: Value?
        try await waitUntil("the leader answered", within: .seconds(120)) {
            guard let leader = try await leader() else { return false }
            do { value = try await body(leader) } catch { return false }
            return value != nil
        }
        guard let value else { throw PostgresServerError("The leader did not answer.") }
        return value
    }
}
#endif
