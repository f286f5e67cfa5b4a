#if CommandLineTool
import ArgumentParser
import Bodega
import BodegaSync
import Foundation
import RecordCoder

/// `bodega outbox conflicts`.
struct ConflictsCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List the merged changes of which something was not taken, or remove them from the list.",
        discussion: """
            Of each conflict, its id and date, the item, four versions and what was lost are shown: "base" is the \
            version that both have changed, "local" that of this file, "remote" that of the remote database, "merged" \
            what the item has become. They are kept until they are removed from the list, which changes no item. \
            Removing all requires --yes or a confirmation on a terminal.

            With --json each line is an object: {"id", "time", "collection", "key", "kind", "base", "local", "remote", \
            "merged", "losses"}. A version is an object with one of the members "json", "text" and "base64", as in an \
            export, and is left out where there was no item. A loss has "path", "side", and "lost" unless it is a \
            removal.

            EXAMPLES:
              bodega outbox conflicts notes.db
              bodega outbox conflicts notes.db --json | jq '.losses[]'
              bodega outbox conflicts notes.db --remove 01234567-89AB-CDEF-0123-456789ABCDEF
            """)

    @OptionGroup var outbox: OutboxOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: ArgumentHelp("Remove a conflict from the list; can be repeated.", valueName: "id"))
    var remove: [String] = []

    @Flag(help: "Remove all conflicts from the list.")
    var all = false

    @Flag(name: [.short, .long, .customLong("force")], help: "Remove all without a confirmation.")
    var yes = false

    func validate() throws {
        if all, !remove.isEmpty { throw ValidationError("--remove and --all exclude each other.") }
        if json, all || !remove.isEmpty { throw ValidationError("--json is for the list.") }
        if let text = remove.first(where: { UUID(uuidString: $0) == nil }) {
            throw ValidationError("\"\(text)\" is no id of a conflict. List them without --remove.")
        }
    }

    func run(on console: Console) async throws {
        if all || !remove.isEmpty { return try await removeConflicts(on: console) }
        try await outbox.read(on: console) { outbox, collection in
            for conflict in try await outbox.fetchConflicts(in: collection) {
                if json {
                    try Self.json(conflict).withUnsafeBytes(console.output.write)
                } else {
                    try console.output.write(Self.text(conflict))
                }
            }
        }
    }

    private func removeConflicts(on console: Console) async throws {
        try await outbox.change { outbox, collection in
            let known = try await outbox.fetchConflicts(in: collection).map(\.id)
            let wanted = all ? known : remove.compactMap(UUID.init(uuidString:))
            if let id = wanted.first(where: { !known.contains($0) }) {
                throw ToolError(.keyNotFound, "There is no conflict with the id \(id).")
            }
            if all, !yes, !wanted.isEmpty {
                guard console.canAsk else {
                    throw ToolError(.usage, "--all removes all conflicts from the list. Give --yes to confirm.")
                }
                guard try console.isConfirmed("Remove \(Counted.text(wanted.count, "conflict"))?") else {
                    throw ToolError(.failure, "Nothing was removed.")
                }
            }
            for id in wanted { try await outbox.removeConflict(id) }
        }
    }

    private static func text(_ stored: StoredConflict) -> String {
        let (conflict, versions) = (stored.conflict, stored.conflict.versions)
        var lines = [
            [
                stored.id.uuidString, ItemLine.timestamp(stored.date), TerminalText.escaped(versions.collection),
                TerminalText.escaped(versions.key.rawValue),
            ].joined(separator: "  "),
            "  base    \(StoredVersion.text(versions.base, ifNone: "(no item)"))",
            "  local   \(StoredVersion.text(versions.local, ifNone: "(removed)"))",
            "  remote  \(StoredVersion.text(versions.remote, ifNone: "(removed)"))",
            "  merged  \(StoredVersion.text(conflict.merged, ifNone: "(removed)"))",
        ]
        for loss in conflict.losses {
            let lost = StoredVersion.text(loss.lost, ifNone: "(removed)")
            lines.append("  lost    \(TerminalText.escaped(loss.path)) of \(loss.side.rawValue): \(lost)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func json(_ stored: StoredConflict) -> [UInt8] {
        let (conflict, versions) = (stored.conflict, stored.conflict.versions)
        return JSONObjectWriter.line([
            "id": stored.id.uuidString, "time": ItemLine.timestamp(stored.date), "collection": versions.collection,
            "key": versions.key.rawValue, "kind": versions.key.kind.rawValue,
            "base": versions.base.map(StoredVersion.init), "local": versions.local.map(StoredVersion.init),
            "remote": versions.remote.map(StoredVersion.init), "merged": conflict.merged.map(StoredVersion.init),
            "losses": conflict.losses.map(Loss.init),
        ])
    }

    private struct Loss: JSONObjectMember {
        let loss: MergeLoss

        func add(to object: inout JSONObjectWriter) {
            object.add("path", loss.path)
            object.add("side", loss.side.rawValue)
            if let lost = loss.lost { object.add("lost", StoredVersion(data: lost)) }
        }
    }
}

extension LocalOutbox {
    /// The conflicts of a collection, or of all.
    fileprivate func fetchConflicts(in collection: String?) async throws -> [StoredConflict] {
        try await fetchConflicts().filter { collection == nil || $0.conflict.versions.collection == collection }
    }
}
#endif
