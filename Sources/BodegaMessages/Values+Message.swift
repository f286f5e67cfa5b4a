package import Bodega
package import Foundation
package import RecordCoder

extension Date {
    /// The milliseconds since 1970, in which messages name moments. Moments that don't fit are the last ones that do.
    package var milliseconds: Int {
        Int(exactly: (timeIntervalSince1970 * 1000).rounded()) ?? (self < Date() ? .min : .max)
    }

    package init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension CacheKey {
    /// Adds the members of a key to an object: `key`, and `kind` unless that is `hashed`.
    package func add(to object: inout JSONObjectWriter) {
        object.add("key", identity)
        if kind != .hashed { object.add("kind", kind.rawValue) }
    }

    package init(_ members: JSONMembers) throws {
        self.init(identity: try members.required("key").string(), kind: try Kind(members["kind"]))
    }
}

extension CacheKey.Kind {
    package init(_ part: JSONPart?) throws {
        guard let part else {
            self = .hashed
            return
        }
        guard let kind = try Self(rawValue: part.string()) else { throw part.error("a kind of key") }
        self = kind
    }
}

extension CacheKey: JSONObjectMember, JSONReadable {
    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["key", "kind"])
        self = try CacheKey(members)
    }
}

extension Data {
    /// Adds an item's bytes to an object: as the JSON that they are, or in Base64.
    ///
    /// Only JSON on one line whose bytes are the same after it was cut out of a message is put into it as it is, and
    /// only if it is not nested so deeply that it would hinder readers of the whole message.
    package func addItem(to object: inout JSONObjectWriter) {
        withUnsafeBytes { bytes in
            if bytes.isOneLineOfJSON {
                object.add("value", json: bytes)
            } else {
                object.add("data", base64EncodedString())
            }
        }
    }

    /// Reads what ``addItem(to:)`` has written; `nil` if there is nothing.
    package init?(item members: JSONMembers) throws {
        switch (members["value"], members["data"]) {
        case (nil, nil): return nil
        case (let value?, nil): self = value.data
        case (nil, let data?): self = try data.base64()
        case (_?, let data?): throw data.error("the only form of the item's bytes")
        }
    }
}

extension UnsafeRawBufferPointer {
    private static let maximumDepth = 100

    fileprivate var isOneLineOfJSON: Bool {
        guard let first, let last, first > UInt8(ascii: " "), last > UInt8(ascii: " "),
            !has(UInt8(ascii: "\n")), !has(UInt8(ascii: "\r")),
            isValidUTF8(self)
        else { return false }
        return JSONScanner.document(self, maximumDepth: Self.maximumDepth) != nil
    }

    private func has(_ byte: UInt8) -> Bool {
        guard let baseAddress else { return false }
        return memchr(baseAddress, Int32(byte), count) != nil
    }
}

extension StorageSortKey: JSONMember, JSONReadable {
    package func encode(into bytes: inout [UInt8]) {
        switch self {
        case .integer(let integer): bytes += String(integer).utf8
        // A number of JSON that is larger than all of Double.
        case .real(let real) where real.isInfinite: bytes += (real < 0 ? "-1e999" : "1e999").utf8
        case .real(let real): bytes += String(real).utf8
        case .text(let text): text.encode(into: &bytes)
        case .none: bytes += "null".utf8
        }
    }

    package init(_ part: JSONPart) throws {
        if part.isNull {
            self = .none
        } else if let text = part.text {
            self = .text(text)
        } else if let number = part.number {
            self = Int64(number).map(Self.integer) ?? Double(number).map { StorageSortKey($0) } ?? .none
        } else {
            throw part.error("a sort key: a number, a text or null")
        }
    }
}

extension StoragePlace: JSONObjectMember, JSONReadable {
    package func add(to object: inout JSONObjectWriter) {
        if let sortKey { object.add("sortKey", sortKey) }
        object.add("position", position)
    }

    package init(_ part: JSONPart) throws {
        let members = try part.members()
        try members.check(names: ["sortKey", "position"])
        self.init(
            sortKey: try members["sortKey"].map(StorageSortKey.init),
            position: try members.required("position").int())
    }
}

extension StorageSortKeyBound: JSONMember, JSONReadable {
    package func encode(into bytes: inout [UInt8]) {
        switch self {
        case .start: "start".encode(into: &bytes)
        case .end: "end".encode(into: &bytes)
        case .before(let key): JSONObjectWriter.append(to: &bytes) { $0.add("before", key) }
        case .after(let key): JSONObjectWriter.append(to: &bytes) { $0.add("after", key) }
        }
    }

    package init(_ part: JSONPart) throws {
        switch part.text {
        case "start": self = .start
        case "end": self = .end
        case nil:
            let (name, value) = try part.members().only()
            switch name {
            case "before": self = .before(try StorageSortKey(value))
            case "after": self = .after(try StorageSortKey(value))
            default: throw part.error("a bound")
            }
        default: throw part.error("a bound")
        }
    }
}

extension StorageOrigin: JSONMember, JSONReadable {
    package func encode(into bytes: inout [UInt8]) { id.uuidString.lowercased().encode(into: &bytes) }

    package init(_ part: JSONPart) throws {
        guard let id = try UUID(uuidString: part.string()) else { throw part.error("a UUID") }
        self.init(id: id)
    }
}

extension StorageCursor: JSONMember, JSONReadable {
    package func encode(into bytes: inout [UInt8]) { rawValue.encode(into: &bytes) }

    package init(_ part: JSONPart) throws { self.init(rawValue: try part.string()) }
}
