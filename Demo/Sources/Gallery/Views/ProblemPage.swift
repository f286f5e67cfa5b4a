/// The page that says what went wrong with a request.
struct ProblemPage: Page {
    let template = "problem"
    let chrome: Chrome
    let status: Int
    let heading: String
    let text: String
}

extension ProblemPage {
    /// Explains a status of HTTP.
    @MainActor
    init(status: Int, _ controllers: GalleryControllers, apiIsOn: Bool) {
        self.status = status
        (heading, text) =
            switch status {
            case 404: ("There is nothing here", "The picture may have been removed, or the address has a typo.")
            case 400, 413, 415, 422: ("That was not understood", "The form was not filled in as this page offers it.")
            case 403:
                ("That came from elsewhere", "For your safety, only the gallery’s own pages may change something.")
            case 405: ("That does not work here", "The address exists, but not for this kind of request.")
            default: ("Something went wrong", "It is not your fault. The program’s log says what it was.")
            }
        chrome = Chrome(title: "\(heading) · Emporium Gallery", controllers, apiIsOn: apiIsOn)
    }
}
