/// The page that explains an error.
struct ProblemPage: Page {
    let template = "problem"
    let chrome: Chrome
    let status: Int
    let heading: String
    let text: String
}

extension ProblemPage {
    /// Creates the page for an HTTP status.
    @MainActor
    init(status: Int, _ controllers: GalleryControllers, apiIsOn: Bool) {
        self.status = status
        (heading, text) =
            switch status {
            case 404:
                ("Page not found", "The picture or album may have been removed, or the address may contain a typo.")
            case 400, 413, 415, 422: ("Invalid form", "The form contains a value that the gallery does not accept.")
            case 403:
                ("Request refused", "For your safety, only the gallery’s own pages can make changes.")
            case 405: ("Method not allowed", "The address does not support this kind of request.")
            default: ("Something went wrong", "This is not your fault. See the program’s log for the reason.")
            }
        chrome = Chrome(title: "\(heading) · Emporium Gallery", controllers, apiIsOn: apiIsOn)
    }
}
