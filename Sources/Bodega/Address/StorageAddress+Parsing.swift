import Foundation

extension StorageAddress {

    /// Parses an address.
    ///
    /// For an address without a scheme, the file or folder at its path determines the engine. Nothing is changed there.
    ///
    /// - Parameter text: The address, in one of the forms that ``StorageAddress`` lists.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if the text is not an address or leaves
    ///   the engine open. Its message says what to write instead.
    public init(parsing text: String) throws {
        if let address = try Self.parse(server: text) ?? Self.parse(postgres: text) {
            self = address
            return
        }
        for engine in Self.localEngines {
            guard let rest = text.unicodeScalars.after("\(engine.rawValue):") else { continue }
            self = try Self.parse(Substring(rest), for: engine, in: text)
            return
        }
        guard !text.isEmpty else { throw Self.invalid("The store's address is empty. \(Self.forms)") }
        self = try Self.parse(withoutScheme: text)
    }

    /// The engines whose names are schemes.
    static let localEngines: [Engine] = [.sqlite, .disk, .memory]

    /// Parses what follows a scheme.
    private static func parse(_ rest: Substring, for engine: Engine, in text: String) throws -> StorageAddress {
        if engine == .memory {
            guard rest.isEmpty else {
                throw invalid("\"\(text)\" has a path, but memory has none. Write memory:")
            }
            return .memory
        }
        guard !rest.isEmpty else { throw invalid("\"\(text)\" lacks a path after the colon. \(forms)") }
        if rest.unicodeScalars.after("//") != nil {
            throw invalid(
                "\"\(text)\" has the form of a URL. Write the path directly after the colon: \(engine.rawValue):PATH.")
        }
        if engine == .disk { return .disk(expandingHome(in: String(rest))) }
        let (path, collection) = try split(rest, in: text)
        return .sqlite(expandingHome(in: path), collection: collection)
    }

    /// Parses an address without a scheme.
    private static func parse(withoutScheme text: String) throws -> StorageAddress {
        let whole = expandingHome(in: text)
        // An existing file or folder of the whole name is the store, even if there is a # in the name.
        switch try StoreNature(ofPath: whole) {
        case .folder: return .disk(whole)
        case .sqlite: return .sqlite(whole)
        case .missing, .empty, .other: break
        }
        let (path, collection) = try split(text[...], in: text)
        let expanded = expandingHome(in: path)
        switch try StoreNature(ofPath: expanded) {
        case .sqlite:
            return .sqlite(expanded, collection: collection)
        case .folder:
            throw invalid("\"\(path)\" is a folder, which has no collections. Write disk:\(path).")
        case .missing, .empty:
            let pathExtension = URL(fileURLWithPath: expanded).pathExtension.lowercased()
            if StoreNature.databaseExtensions.contains(pathExtension) {
                return .sqlite(expanded, collection: collection)
            }
            if let scheme = unknownScheme(of: text) {
                throw invalid("The address has the unknown engine \"\(scheme)\". \(forms)")
            }
            throw invalid("\"\(text)\" could be any kind of store. \(forms)")
        case .other:
            throw invalid(
                "\"\(path)\" is neither an SQLite file nor a folder, or the beginning of the file is damaged. \(forms)")
        }
    }

    /// Splits the text into the path and the collection.
    static func split(_ rest: Substring, in text: String) throws -> (path: String, collection: String?) {
        // Compares scalars, because a # and a combining character after it are one character.
        let scalars = rest.unicodeScalars
        guard let mark = scalars.lastIndex(of: "#") else { return (String(rest), nil) }
        let path = String(scalars[..<mark])
        let name = Substring(scalars[scalars.index(after: mark)...])
        guard !path.isEmpty else { throw invalid("\"\(text)\" lacks a path before the #. \(forms)") }
        if name.isEmpty { return (path, nil) }
        guard let collection = unescaped(name) else {
            throw invalid(
                "\"\(name)\" is not a valid collection name: a % needs two hexadecimal digits. Write %25 for a %."
            )
        }
        return (path, collection)
    }

    private static func unknownScheme(of text: String) -> Substring? {
        // RFC 3986, section 3.1.
        guard let end = text.unicodeScalars.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter
        else {
            return nil
        }
        let scheme = text[..<end]
        let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme ? scheme : nil
    }

    private static func expandingHome(in path: String) -> String {
        path.unicodeScalars.after("~/").map { "\(NSHomeDirectory())/\(String($0))" } ?? path
    }

    private static func invalid(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }

    private static let forms = """
        Write sqlite:PATH, sqlite:PATH#COLLECTION, disk:PATH, postgres://…#COLLECTION or https://…#COLLECTION.
        """
}

extension StorageAddress {

    /// Escapes a collection's name for use after a `#`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - special: The scalars to escape in addition to `%`, which begins an escape.
    static func escaped(_ name: String, _ special: Set<Unicode.Scalar> = ["#"]) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if scalar == "%" || special.contains(scalar) {
                result += "%\(String(scalar.value, radix: 16))".unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Decodes a collection's name that follows a `#`.
    ///
    /// - Returns: `nil` if an escape is incomplete or the bytes are not UTF-8.
    private static func unescaped(_ name: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validUTF8: bytes)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}

extension BidirectionalCollection<Unicode.Scalar> {

    /// The text after a prefix, `nil` if the text doesn't begin with it. Unlike `hasPrefix(_:)`, this compares code
    /// points, so a combining character after the prefix belongs to the result.
    func after(_ prefix: String) -> SubSequence? {
        starts(with: prefix.unicodeScalars) ? dropFirst(prefix.unicodeScalars.count) : nil
    }
}
