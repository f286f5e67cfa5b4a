// What the page speaks of and does not show.

struct Quote: Codable { var id, text: String }
let quote = Quote(id: "", text: "")
