import Bodega

/// The indexes of a store.
struct StoreIndexes {
    let store: OpenStore

    /// The number of items from which on creating an index is announced, because it takes a noticeable time.
    private static let manyItems = 20_000

    /// The indexes, in the order of their paths.
    func all() async throws -> [StorageIndex] {
        let indexes = try await store.engine.indexes?.fetchIndexes() ?? []
        return indexes.sorted {
            ($0.pathsText, $0.condition ?? "", $0.isForText ? 1 : 0)
                < ($1.pathsText, $1.condition ?? "", $1.isForText ? 1 : 0)
        }
    }

    /// Why the store can't have indexes, and what to do; `nil` if it can.
    func refusal() async throws -> String? {
        if store.address.engine == .disk {
            return """
                A folder has no indexes, so its queries read all items. Copy them into an SQLite file, which can have \
                indexes: bodega copy \(store.address) sqlite:PATH
                """
        }
        guard store.base.indexes != nil else {
            return "\(store.address) has no indexes, so its queries read all items."
        }
        let isEncrypted = if store.encryption == nil { try await store.seemsEncrypted() } else { true }
        if !isEncrypted { return nil }
        return """
            The items of \(store.address) are encrypted, so it has no indexes over their content, and its queries read \
            all items.
            """
    }

    /// Creates an index over each path, unless there is one.
    ///
    /// - Throws: A ``ToolError`` that names the indexes that exist, if the command is interrupted before the last one.
    func create(_ paths: [IndexPaths], on console: Console) async throws {
        if let refusal = try await refusal() { throw ToolError(.usage, refusal) }
        guard let indexes = store.base.indexes else { return }
        var created: [IndexPaths] = []
        for (number, path) in paths.enumerated() {
            do {
                try console.interruption.check()
                if try await create(path, in: indexes, on: console) { created.append(path) }
            } catch let error as ToolError where console.interruption.status == error.status {
                let isBegun = try await all().contains { $0.hasPaths(of: path.index) }
                let outcome = Self.outcome(created, of: paths[number...], isBegun: isBegun)
                throw ToolError(error.status, "\(error.message) \(outcome)")
            }
        }
    }

    /// Creates an index over a path, unless there is one.
    ///
    /// - Returns: Whether it was created.
    private func create(_ path: IndexPaths, in indexes: any StorageIndexes, on console: Console) async throws -> Bool {
        if try await all().contains(where: { $0.hasPaths(of: path.index) }) {
            console.complain("note: there already is an \(path.name).")
            // Brings it up to date, or finishes it.
            if path.index.searchForm != nil { try await build(path.index, in: indexes, on: console) }
            return false
        }
        let count = try await store.base.fetchCount()
        if count >= Self.manyItems {
            console.complain("note: creating an \(path.name). This reads \(count) items.")
        }
        try await build(path.index, in: indexes, on: console)
        console.complain("note: created an \(path.name).")
        return true
    }

    private func build(_ index: StorageIndex, in indexes: any StorageIndexes, on console: Console) async throws {
        let bar = Locked(ProgressBar(console: console, isQuiet: false))
        defer { bar.withLock { $0.clear() } }
        do {
            try await console.interruption.cancelling {
                try await indexes.createIndex(index) { done, total in
                    bar.withLock { $0.update(items: done, done: done, of: total) }
                }
            }
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        }
    }

    /// What was done before an interruption, as sentences.
    ///
    /// - Parameter isBegun: Whether there is the first index of the rest, though not finished.
    private static func outcome(
        _ created: [IndexPaths], of rest: ArraySlice<IndexPaths>, isBegun: Bool
    ) -> String {
        if isBegun, let first = rest.first {
            let others = rest.dropFirst()
            let sentence = "The \(first.name) is not finished. The same command goes on with it."
            if created.isEmpty, others.isEmpty { return sentence }
            return "\(sentence) \(outcome(created, of: others, isBegun: false))"
        }
        func list(_ paths: some Collection<IndexPaths>) -> String {
            paths.count == 1
                ? paths.map(\.name).joined()
                : "indexes over \(paths.map(\.description).joined(separator: ", "))"
        }
        let sentences = [
            created.isEmpty ? nil : "The \(list(created)) \(created.count == 1 ? "was" : "were") created.",
            rest.isEmpty ? nil : "The \(list(rest)) \(rest.count == 1 ? "was" : "were") not created.",
        ]
        return sentences.compactMap { $0 }.joined(separator: " ")
    }

    /// Removes the indexes over each path.
    func remove(_ paths: [IndexPaths], on console: Console) async throws {
        guard let indexes = store.base.indexes else {
            if let refusal = try await refusal() { throw ToolError(.usage, refusal) }
            return
        }
        for path in paths {
            let existing = try await indexes.fetchIndexes().filter { $0.hasPaths(of: path.index) }
            for index in existing { try await indexes.removeIndex(index) }
            if !existing.isEmpty {
                console.complain("note: removed the \(path.name).")
                continue
            }
            // One whose creation was interrupted is not among them.
            try await indexes.removeIndex(path.index)
            console.complain("note: there is no \(path.name), and nothing is left of an interrupted creation.")
        }
    }

    /// Prints the indexes.
    func print(asJSON isJSON: Bool, on console: Console) async throws {
        let indexes = try await all()
        let hasConditions = indexes.contains { $0.condition != nil }
        var table = TextTable(header: ["path", "kind"] + (hasConditions ? ["where"] : []), console: console)
        for index in indexes {
            let kind =
                index.searchForm?.rawValue
                ?? index.members[index.constants.count...].map { $0.isForText ? "text" : "value" }.joined(
                    separator: ",")
            if isJSON {
                try console.print(["path": index.pathsText, "kind": kind, "where": index.condition])
            } else {
                try table.add([index.pathsText, kind] + (hasConditions ? [index.condition ?? ""] : []))
            }
        }
        try table.finish()
    }
}
