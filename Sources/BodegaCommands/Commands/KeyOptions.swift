#if CommandLineTool
import ArgumentParser
import Bodega

/// The kind of the keys that a command is given.
struct KeyOptions: ParsableArguments {
    @Flag(help: "Keys are file names already, as after the import of a folder.")
    var verbatim = false

    @Flag(help: "Keys are URLs; scheme, www. and a trailing slash don't count.")
    var url = false

    /// The kind; hashed unless another is named.
    var kind: KeyKind {
        verbatim ? .verbatim : url ? .url : .hashed
    }

    func validate() throws {
        if verbatim, url { throw ValidationError("--verbatim and --url exclude each other.") }
    }

    /// Makes a key from an argument.
    func key(_ argument: String) throws -> CacheKey {
        guard let key = kind.key(argument) else { throw ToolError(.usage, "\"\(argument)\" is not a URL.") }
        return key
    }
}

extension OpenStore {
    /// The error to end with when items are missing, with a hint if there are items of another kind.
    func missing(_ keys: [CacheKey]) async throws -> ToolError {
        var lines: [String] = []
        for key in keys {
            let others = CacheKey.Kind.allCases.filter { $0 != key.kind }.map {
                CacheKey(rawValue: key.rawValue, kind: $0)
            }
            var line = "There is no item under the key \(key)."
            if let other = try await engine.fetchKeys(among: others).first {
                let flag = other.kind == .hashed ? "without --\(key.kind.rawValue)" : "with --\(other.kind.rawValue)"
                line += " There is one \(flag)."
            }
            lines.append(line)
        }
        return ToolError(.keyNotFound, lines.joined(separator: "\nbodega: "))
    }
}
#endif
