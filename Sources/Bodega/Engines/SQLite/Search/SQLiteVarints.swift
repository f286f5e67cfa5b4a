/// The numbers in a record of FTS5.
enum SQLiteVarints {
    /// The format is that of SQLite's files: 7 bits in each byte, the highest first, and 8 in the ninth.
    static func numbers(in bytes: some Sequence<UInt8>) -> [Int] {
        var numbers: [Int] = []
        var (number, count) = (UInt64(0), 0)
        for byte in bytes {
            count += 1
            if count == 9 {
                number = number << 8 | UInt64(byte)
            } else {
                number = number << 7 | UInt64(byte & 0x7F)
                if byte & 0x80 != 0 { continue }
            }
            numbers.append(Int(truncatingIfNeeded: number))
            (number, count) = (0, 0)
        }
        return numbers
    }
}
