// A part of the page that cannot be shown says so, and the others stay.

import { h, Component, type ComponentChildren } from 'preact'

export class Guard extends Component<{ what: string; children?: ComponentChildren }, { error?: unknown }> {
  state: { error?: unknown } = {}
  static getDerivedStateFromError(error: unknown) { return { error } }
  render() {
    const { error } = this.state
    return error === undefined ? this.props.children : <p class="warning" role="alert">The {this.props.what} cannot be shown: {String(error)}. What stands elsewhere on the page is not affected.</p>
  }
}
