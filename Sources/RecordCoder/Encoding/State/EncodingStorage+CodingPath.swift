import Foundation

extension EncodingStorage {
    /// The coding path of a place where a value stands or is to be written, found in what has been written.
    ///
    /// Foundation's paths consist of the very keys that the values' types gave. Where they weren't kept, where the place
    /// can't be told from the one behind it any more, and within nested containers, of which Foundation has ideas of its
    /// own, the record is left to Foundation.
    ///
    /// - Parameters:
    ///   - depth: How many frames the place lies in.
    ///   - start: The offset at which the value starts.
    mutating func codingPath(depth: Int, start: Int) -> [any CodingKey] {
        guard isVacant(depth: depth, start: start) || isOpen(depth: depth, start: start) else {
            giveUp()
            return []
        }
        var path: [any CodingKey] = []
        for level in 0..<depth {
            // In bounds: level < depth <= frameCount.
            let frame = frames[level]
            guard !frame.isNested, let key = lastKey(of: frame) else {
                giveUp()
                return []
            }
            path.append(key)
        }
        return path
    }

    /// Notes that a frame was begun by a container, if it is open.
    func markNested(depth: Int, start: Int) {
        // In bounds: the frame is open.
        if isOpen(depth: depth, start: start) { frames[depth].isNested = true }
    }

    /// The key or index of the member or element that was begun last.
    private mutating func lastKey(of frame: EncodingFrame) -> (any CodingKey)? {
        if frame.kind == .array { return PathKey(index: frame.position - 1) }
        // In bounds: the position is the one behind the last key, which is in the table.
        if let table = frame.table, frame.position > 0 { return table.pointee.names[frame.position - 1].key }
        return frame.dictionaryKey < 0 ? nil : dictionaryKey(at: frame.dictionaryKey)
    }

    /// Reads a dictionary's key. It is a number to Foundation, too, if it can be read as one.
    private mutating func dictionaryKey(at offset: Int) -> PathKey? {
        if let known = dictionaryKeys[offset] { return known }
        // In bounds: the key lies between its offset, which is within what is written, and the next quotation mark that
        // is not escaped, which is written with it.
        let bytes = UnsafeRawBufferPointer(start: output.base + offset, count: output.count - offset)
        var end = 1
        while bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        do {
            let text = try RecordDecoder().decode(String.self, from: Data(bytes[...end]))
            let key = PathKey(stringValue: text, intValue: Int(text))
            dictionaryKeys[offset] = key
            return key
        } catch {
            // What was written is a string; if not, Foundation shall write the record itself.
            return nil
        }
    }
}

extension PathKey {
    /// The key of a dictionary's entry.
    fileprivate init(stringValue: String, intValue: Int?) {
        self.stringValue = stringValue
        self.intValue = intValue
    }
}
