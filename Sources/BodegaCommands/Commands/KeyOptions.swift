#if CommandLineTool
import ArgumentParser
import Bodega

/// The kind of a command's keys.
struct KeyOptions: ParsableArguments {
    @Flag(help: "Keys are file names, as after the import of a folder.")
    var verbatim = false

    @Flag(help: "Keys are URLs; scheme, www. and a trailing slash are ignored.")
    var url = false

    /// The kind; hashed by default.
    var kind: CacheKey.Kind { verbatim ? .verbatim : url ? .url : .hashed }

    func validate() throws {
        if verbatim, url { throw ValidationError("--verbatim and --url exclude each other.") }
    }

    func key(_ argument: String) throws -> CacheKey {
        guard let key = kind.key(argument) else {
            throw ToolError(.usage, "\"\(argument)\" is not a URL. Correct it, or leave out --url.")
        }
        return key
    }

    /// Makes the keys that arguments denote in a store. If no kind is named and the hashed key has no item, the key is
    /// that of an item of another kind that `ls` shows in the same way.
    ///
    /// - Returns: A key for each argument, even if there is no item.
    func keys(_ arguments: [String], in store: OpenStore) async throws -> [CacheKey] {
        let keys = try arguments.map(key)
        if kind != .hashed { return keys }
        let found = Set(try await store.engine.fetchKeys(among: keys))
        let missing = keys.filter { !found.contains($0) }
        if missing.isEmpty { return keys }
        let others = Set(try await store.engine.fetchKeys(among: missing.flatMap(\.ofOtherKinds)))
        return keys.map { key in found.contains(key) ? key : key.ofOtherKinds.first(where: others.contains) ?? key }
    }
}

extension OpenStore {
    /// The error for missing items, with a hint if there are items of another kind.
    func missing(_ keys: [CacheKey]) async throws -> ToolError {
        if let error = try await hiddenKeys("The keys of the missing items may be among them.") { return error }
        let others = Set(try await engine.fetchKeys(among: keys.flatMap(\.ofOtherKinds)))
        let lines = keys.map { key in
            let line = "There is no item under the key \(key)."
            guard key.ofOtherKinds.contains(where: others.contains) else { return line }
            return line + " There is one without --\(key.kind.rawValue)."
        }
        return ToolError(.keyNotFound, lines.joined(separator: "\nbodega: "))
    }
}

extension CacheKey {
    /// The keys of the other kinds that `ls` shows in the same way.
    fileprivate var ofOtherKinds: [CacheKey] {
        Kind.allCases.filter { $0 != kind }.map { CacheKey(rawValue: rawValue, kind: $0) }
    }
}
#endif
